import { createHash } from "node:crypto";
import type { Host } from "../context.ts";

/** Above this a file is neither edited nor remembered. */
export const MAX_EDIT_BYTES = 10 * 1024 * 1024;

/** Far more files than a context can hold; the oldest are forgotten, which only means no check. */
const MAX_SEEN = 10_000;

export function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Notes what the model now knows the file to be; undefined forgets it. */
export function remember(host: Host, realPath: string, hash: string | undefined): void {
  host.seen.delete(realPath);
  if (hash === undefined) return;
  host.seen.set(realPath, hash);
  const oldest = host.seen.keys().next();
  if (host.seen.size > MAX_SEEN && !oldest.done) host.seen.delete(oldest.value);
}
