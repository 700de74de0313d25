import { GloveboxError } from "../core/errors.ts";
import type { InputStream } from "./io.ts";

/** The longest prompt: a file somebody pipes in by mistake is larger. */
const MAX_PROMPT_BYTES = 1024 * 1024;

/**
 * The prompt from the words of the command line or, without any or with `-`, from a stdin that is no terminal. With
 * words stdin is never read. @throws GloveboxError `USAGE`, and `ABORTED` when `signal` comes first.
 */
export async function readPrompt(words: readonly string[], stdin: InputStream, signal: AbortSignal): Promise<string> {
  const isNamed = words.length > 0 && !(words.length === 1 && words[0] === "-");
  const text = isNamed ? words.join(" ") : await readAll(stdin, signal);
  if (Buffer.byteLength(text, "utf8") > MAX_PROMPT_BYTES) throw tooLong();
  return text;
}

async function readAll(stdin: InputStream, signal: AbortSignal): Promise<string> {
  if (stdin.isTTY) {
    throw new GloveboxError("USAGE", "There is no prompt", {
      hint: 'Say what is to be done: `glovebox run "make the tests pass"`, or pipe it to stdin',
    });
  }
  const aborted = new Promise<never>((_, reject) => {
    const stop = (): void => reject(new GloveboxError("ABORTED", "Stopped while the prompt was read from stdin"));
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
  return Promise.race([collect(stdin), aborted]);
}

async function collect(stdin: InputStream): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stdin) {
    const buffer = Buffer.from(chunk);
    bytes += buffer.length;
    if (bytes > MAX_PROMPT_BYTES) throw tooLong();
    chunks.push(buffer);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function tooLong(): GloveboxError {
  return new GloveboxError("USAGE", "The prompt is longer than 1 MiB", {
    hint: "Put the material into a file of the workspace and name the file in the prompt",
  });
}
