import { randomBytes } from "node:crypto";
import { accessSync, constants, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Hello } from "../../protocol/messages.ts";
import type { Program } from "./process-run.ts";
import { exitTrap, posixScript, restoreScript, saveScript } from "./script.ts";
import { firstState, fitted, parseSaved, type ShellState, textOfBytes, unassignable } from "./state.ts";
import {
  ensureFolder,
  isFull,
  isOurFolder,
  isThere,
  moveFile,
  putFile,
  removeFolder,
  takeFile,
} from "./state-folder.ts";

/** A command laid out in a folder, ready to be started. */
export type Prepared = {
  program: Program;
  folder: string;
  textPath: string;
  /** What the shell may print of ours, after `set -v`. */
  ownText: string;
  notes: string[];
  nonce: string;
};

/** The file with the command's text; messages of the shell begin with its path. */
const TEXT_FILE = "shell";
const RUN_FILES = [TEXT_FILE, "sh", "restore", "save", "saved", "names"];
/** Far above what is carried: the rest is named as not carried. */
const MAX_SAVED_BYTES = 64 * 1024 * 1024;

const AS_BEFORE = "directory and variables are as before this command";

/** Carries the shell's state from one command to the next. Only a state that was written to its end is ever taken. */
export class ShellMemory {
  readonly #hello: Hello;
  readonly #kept: string;
  #state: ShellState;
  /** The folder was found removed or replaced; whoever did that may go on doing it. */
  spoilt = false;
  /** Said with the next command. */
  #notes: string[] = [];

  /** `restarted`: an earlier tool host should have left a state. */
  constructor(hello: Hello, restarted: boolean) {
    this.#hello = hello;
    this.#kept = join(hello.state, "shell-state");
    const kept = readKept(this.#kept);
    this.#state = kept ?? firstState(hello.root, hello.env, hello.umask);
    if (restarted && kept === undefined) this.#notes.push(NONE_KEPT);
  }

  /** A folder for one command, under a name that no command before it could know and spoil. */
  newFolder(): string {
    return join(this.#hello.state, `run-${randomBytes(6).toString("hex")}`);
  }

  /** Writes `text` and what restores the state before it into `folder`. Without `saves` nothing comes back. */
  prepare(text: string, folder: string, saves: boolean): Prepared {
    try {
      return this.#layOut(text, folder, saves);
    } catch (thrown) {
      removeFolder(folder, RUN_FILES);
      throw thrown;
    }
  }

  #layOut(text: string, folder: string, saves: boolean): Prepared {
    ensureFolder(this.#hello.state, folder);
    const nonce = randomBytes(16).toString("hex");
    const saved = join(folder, "saved");
    const put = (name: string, bytes: string, encoding: "utf8" | "latin1"): void =>
      putFile(join(folder, name), bytes, encoding);
    const textPath = join(folder, TEXT_FILE);
    put(TEXT_FILE, text, "utf8");
    const moved = this.#findDirectory();
    const laidOut = { folder, textPath, ownText: exitTrap(join(folder, "save")), notes: this.#takeNotes(moved), nonce };
    if (this.#hello.programs.shellKind === "sh") {
      put("sh", posixScript(this.#state, textPath, saved, nonce), "latin1");
      return { ...laidOut, program: this.#program(["sh"], folder, {}) };
    }
    put("restore", restoreScript(this.#state, saves ? join(folder, "save") : undefined), "latin1");
    if (saves) {
      put("save", saveScript(saved, join(folder, "names"), nonce), "latin1");
      put("saved", "", "latin1");
    }
    // The text is the script itself and not sourced or evaluated by one: so it sees its own line numbers and trace.
    const args = ["--noprofile", "--norc", textPath];
    return { ...laidOut, program: this.#program(args, folder, { BASH_ENV: join(folder, "restore") }) };
  }

  #takeNotes(moved: readonly string[]): string[] {
    return [...this.#notes.splice(0), ...moved];
  }

  #program(args: string[], cwd: string, env: Record<string, string>): Program {
    return { file: this.#hello.programs.shell, args, cwd, env: { ...unassignable(this.#hello.env), ...env } };
  }

  /** Takes over what the command in `folder` saved. Where it saved nothing the state is as before, which the notes say. */
  commit({ folder, nonce }: Prepared): string[] {
    const path = join(folder, "saved");
    // In a folder that the command put in place of ours, no file is ours.
    const isOurs = isOurFolder(this.#hello.state) && isOurFolder(folder);
    this.spoilt = !isOurs;
    const saved = isOurs ? parseSaved(takeFile(path, MAX_SAVED_BYTES)?.toString("latin1") ?? "", nonce) : undefined;
    if (saved === undefined) return [`${this.#whyNotSaved(isOurs)}: ${AS_BEFORE}`];
    // Such a variable is what it was before: after `readonly PATH` nothing would work without one.
    const before = this.#state.variables.filter((item) => saved.unsaved.includes(item.name));
    const { state, dropped } = fitted({ ...saved.state, variables: [...saved.state.variables, ...before] });
    this.#state = state;
    const lost = told("could not be carried into this command and is gone", saved.lost);
    return [...lost, ...tooLarge(dropped), ...this.#keep(path)];
  }

  /** For a tool host that is started after this one; without it only a restart loses the state, and then says so. */
  #keep(path: string): string[] {
    try {
      moveFile(path, this.#kept);
      return [];
    } catch {
      return ["the shell's state could not be written down: a tool host that has to be started again will not have it"];
    }
  }

  #whyNotSaved(isOurs: boolean): string {
    const { state } = this.#hello;
    if (!isOurs) return `the folder of the shell's own files, ${state}, was removed or replaced`;
    if (isFull(state)) return `the file system of ${state} is full, so the shell's state could not be saved`;
    return "the shell ended without saving its state";
  }

  /** Whether what was laid out is still there. */
  isIntact({ folder, textPath }: Prepared): boolean {
    return isOurFolder(this.#hello.state) && isOurFolder(folder) && isThere(textPath);
  }

  /** Removes what was laid out for a command that is over. */
  clear({ folder }: Prepared): void {
    removeFolder(folder, RUN_FILES);
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

const NONE_KEPT =
  "the tool host was started again and found no state of the shell: directory and variables are as at the start";

function readKept(path: string): ShellState | undefined {
  const bytes = takeFile(path, MAX_SAVED_BYTES)?.toString("latin1");
  if (bytes === undefined) return undefined;
  const saved = parseSaved(bytes, bytes.slice(bytes.lastIndexOf("\0") + 1));
  return saved && fitted(saved.state).state;
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
