import type { Duplex } from "node:stream";
import type { EgressRefusal } from "../refusal.ts";
import { linger } from "./join.ts";

export type Answer = { refusal: EgressRefusal; method: string; lingerMs: number; signal: AbortSignal };

/** Says over HTTP why the connection ends, and ends it once the program has read it or had the time to. */
export function answerRefusal(client: Duplex, { refusal, method, lingerMs, signal }: Answer): Promise<void> {
  if (client.destroyed || client.writableEnded || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const onAbort = () => client.destroy(refusal);
    signal.addEventListener("abort", onAbort);
    client.once("close", () => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    });
    client.write(textOf(refusal, method));
    linger(client, { ms: lingerMs, reason: refusal });
  });
}

function textOf({ message, denial }: EgressRefusal, method: string): string {
  const said = denial ? ` (rule ${denial.rule}); what a person can do: ${denial.enable_with}` : "";
  const body = `glovebox: ${message}${said}\n`;
  const head = [
    "HTTP/1.1 403 Forbidden",
    "Content-Type: text/plain; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
  ];
  return `${head.join("\r\n")}\r\n\r\n${method === "HEAD" ? "" : body}`;
}
