import { listProcesses, readName } from "../shell/process-table.ts";
import { inodeInTheWay } from "./held-ports.ts";
import type { Place } from "./listeners.ts";
import { holderOf } from "./socket-table.ts";

/** The process that listens at a place, or at its port on every address, for people. */
export function processAt(place: Place): string {
  const inode = inodeInTheWay(place);
  const holds = inode === undefined ? () => false : holderOf(inode);
  const found = listProcesses().find(({ pid }) => holds(pid));
  return found === undefined ? "a process" : `${readName(found.pid) || "a process"} (pid ${found.pid})`;
}
