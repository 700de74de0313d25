import { toGloveboxError } from "../core/errors.ts";
import { visible, visibleLine } from "../core/visible.ts";
import type { Io } from "./io.ts";
import { paintFor } from "./paint.ts";

type ReportIo = Pick<Io, "stderr" | "env" | "secrets">;

/** Says on stderr what went wrong and what to do, never with a stack trace; gives the exit code. */
export function reportFailure(thrown: unknown, io: ReportIo): number {
  const error = toGloveboxError(thrown);
  for (const line of failureLines(error, io)) io.stderr.write(`${line}\n`);
  if (io.env["GLOVEBOX_DEBUG"] === "1") io.stderr.write(`${io.secrets.mask(visible(stacksOf(thrown)))}\n`);
  return error.exitCode;
}

/** A failure as a person reads it: the sentence, then the hint. */
export function failureLines(
  { code, message, hint }: { code: string; message: string; hint?: string | null | undefined },
  { stderr, env, secrets }: ReportIo,
): string[] {
  const paint = paintFor(stderr, env);
  const clean = (text: string): string => visibleLine(secrets.mask(text));
  const sentence = code === "INTERNAL" ? `This is a bug in glovebox: ${message}` : message;
  const advice = code === "INTERNAL" ? "`GLOVEBOX_DEBUG=1` prints the details; include them when you report it" : hint;
  const first = `${paint("red", "glovebox:")} ${clean(sentence)}`;
  return advice ? [first, `  ${clean(advice)}`] : [first];
}

function stacksOf(thrown: unknown): string {
  const stacks: string[] = [];
  for (let error = thrown; error !== undefined && stacks.length < 10; error = causeOf(error)) {
    stacks.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
  return stacks.join("\nCaused by: ");
}

function causeOf(thrown: unknown): unknown {
  return thrown instanceof Error ? thrown.cause : undefined;
}
