import { GloveboxError } from "../core/errors.ts";
import { visibleLine } from "../core/visible.ts";
import type { ContainerEnd } from "./container.ts";

/** How a tool host was lost, by its exit code: one that loses its channel leaves by itself, with 0 or 1. */
export function describeLeave(exitCode: number | null): string {
  if (exitCode === null) return "The tool host stopped answering and this call was lost with it";
  if (exitCode <= 1) return "The connection to the tool host broke and this call was lost with it";
  return "This call ended the tool host and was lost with it";
}

/** For the model: what was made read-only, why, and what it can do. */
export function linkWords(folders: readonly string[]): string {
  return `Read-only from now on, since files there are hard links to files outside the workspace: ${folders.map(visibleLine).join(", ")}. To change one, copy it elsewhere in the workspace; a person can open them by \`workspace.hardlinks: allow\` in their policy. Shell state and /tmp are as at the start`;
}

/** The error that ends a sandbox whose protected paths somebody keeps saving. */
export function detachedTooOften(times: number, paths: readonly string[]): GloveboxError {
  const what = paths.map(visibleLine).join(", ");
  const words = `Mounts of the workspace were detached on the host ${times} times, the last time of ${what}`;
  return new GloveboxError("SANDBOX_LOST", words, {
    hint: "Look at what is there, and close the editor or the program that keeps saving it while a session runs",
  });
}

/** For the model: what happened to the call, and what is gone. */
export function remountWords(paths: readonly string[], wasRunning: boolean): string {
  const what = paths.map(visibleLine).join(", ");
  const lostCall = wasRunning
    ? "This call was ended; it may have had effects. "
    : "The sandbox was started again before this call. ";
  return `${lostCall}On the host somebody replaced what is protected or hidden (${what}), so for at most 0.2 s it could be read and written. It is protected again; installed packages, /tmp, HOME, shell state and background processes are gone, workspace files are kept.`;
}

/** The end of a container, as the end of a sentence. */
export function describeEnd(end: ContainerEnd | undefined): string {
  if (!end) return "was removed";
  if (end.outOfMemory) return "ran out of memory";
  if (end.exitCode === null) return "was paused";
  return `ended with exit code ${end.exitCode}${end.error ? ` (${end.error})` : ""}`;
}
