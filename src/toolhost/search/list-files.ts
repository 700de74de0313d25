import type { CallContext } from "../context.ts";
import { RG_MS, type RgEnd, runRg } from "./rg.ts";
import { type SearchPlace, withoutDot } from "./search-place.ts";

const MAX_NAME_BYTES = 64 * 1024;

/** Gives the name of every file that no rule ignores to `take`, sorted, until that returns false. */
export function listFiles(
  place: SearchPlace,
  { host, signal }: CallContext,
  take: (name: Buffer) => boolean,
): Promise<RgEnd> {
  const run = {
    program: host.hello.programs.rg,
    args: ["--files", "-0"],
    cwd: place.cwd,
    isRoot: place.isRoot,
    delimiter: 0,
    maxRecordBytes: MAX_NAME_BYTES,
    timeoutMs: RG_MS,
    signal,
  };
  return runRg(run, (record) => record.type === "overlong" || take(withoutDot(record.bytes)));
}
