import { openSync } from "node:fs";

let descriptor: number | undefined;

/**
 * A descriptor of `/dev/null`, opened once: called before any command runs, since where the agent's user owns `/dev`
 * it can put a FIFO in its place, on which every later start would wait.
 */
export function nothing(): number {
  descriptor ??= openSync("/dev/null", "r+");
  return descriptor;
}
