import { randomBytes } from "node:crypto";
import { accessSync, constants, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Hello } from "../../protocol/messages.ts";
import type { Program } from "./process-run.ts";
import { posixScript, restoreScript, saveScript } from "./script.ts";
import { firstState, fitted, parseSaved, type ShellState, textOfBytes, unassignable } from "./state.ts";

/** A command laid out in a folder, ready to be started. */
export type Prepared = { program: Program; textPath: string; notes: string[]; nonce: string };

/** The file with the command's text; messages of the shell begin with its path. */
const TEXT_FILE = "shell";

/** Carries the shell's state from one command to the next. Only a state that was written to its end is ever taken. */
export class ShellMemory {
  readonly #hello: Hello;
  readonly #kept: string;
  #state: ShellState;

  constructor(hello: Hello) {
    this.#hello = hello;
    this.#kept = join(hello.state, "shell-state");
    this.#state = readKept(this.#kept) ?? firstState(hello.root, hello.env, hello.umask);
  }

  /** Writes `text` and what restores the state before it into `folder`. Without `saves` nothing comes back. */
  prepare(text: string, folder: string, saves: boolean): Prepared {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const notes = this.#findDirectory();
    const nonce = randomBytes(16).toString("hex");
    const saved = join(folder, "saved");
    const put = (name: string, bytes: string, encoding: "utf8" | "latin1"): void =>
      writeFileSync(join(folder, name), bytes, { encoding, mode: 0o600 });
    const textPath = join(folder, TEXT_FILE);
    put(TEXT_FILE, text, "utf8");
    if (this.#hello.programs.shellKind === "sh") {
      put("sh", posixScript(this.#state, textPath, saved, nonce), "latin1");
      return { program: this.#program(["sh"], folder, {}), textPath, notes, nonce };
    }
    put("restore", restoreScript(this.#state, saves ? join(folder, "save") : undefined), "latin1");
    if (saves) put("save", saveScript(saved, join(folder, "names"), nonce), "latin1");
    // The text is the script itself and not sourced or evaluated by one: so it sees its own line numbers and trace.
    const args = ["--noprofile", "--norc", textPath];
    return { program: this.#program(args, folder, { BASH_ENV: "./restore" }), textPath, notes, nonce };
  }

  #program(args: string[], cwd: string, env: Record<string, string>): Program {
    return { file: this.#hello.programs.shell, args, cwd, env: { ...unassignable(this.#hello.env), ...env } };
  }

  /** Takes over what the command in `folder` saved. Undefined: it saved nothing, and the state is as before. */
  commit(folder: string, nonce: string): { notes: string[] } | undefined {
    const path = join(folder, "saved");
    const saved = parseSaved(readBytes(path) ?? "", nonce);
    if (saved === undefined) {
      rmSync(path, { force: true });
      return undefined;
    }
    renameSync(path, this.#kept);
    // Such a variable is what it was before: after `readonly PATH` nothing would work without one.
    const before = this.#state.variables.filter((item) => saved.unsaved.includes(item.name));
    const { state, dropped } = fitted({ ...saved.state, variables: [...saved.state.variables, ...before] });
    this.#state = state;
    return { notes: [...told("could not be carried into this command and is gone", saved.lost), ...tooLarge(dropped)] };
  }

  #findDirectory(): string[] {
    const wanted = this.#state.cwd;
    let cwd = wanted;
    while (cwd !== "/" && !isEnterable(cwd)) cwd = dirname(cwd);
    if (cwd === wanted) return [];
    this.#state = { ...this.#state, cwd };
    return [`the directory ${textOfBytes(wanted)} is gone or closed; this command began in ${textOfBytes(cwd)}`];
  }
}

function told(what: string, names: readonly string[]): string[] {
  return names.length === 0 ? [] : [`${names.map(textOfBytes).join(", ")} ${what}`];
}

function tooLarge(names: readonly string[]): string[] {
  return told("not carried to the next command: variables and functions may hold 1 MiB in all", names);
}

function readKept(path: string): ShellState | undefined {
  const bytes = readBytes(path);
  if (bytes === undefined) return undefined;
  const saved = parseSaved(bytes, bytes.slice(bytes.lastIndexOf("\0") + 1));
  return saved && fitted(saved.state).state;
}

function readBytes(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return undefined;
  }
}

function isEnterable(folder: string): boolean {
  const path = Buffer.from(folder, "latin1");
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
