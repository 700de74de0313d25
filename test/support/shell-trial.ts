import { chmod, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { ToolResult } from "../../src/core/tool-result.ts";
import { isWellFormed } from "../../src/core/truncate.ts";
import { type Opened, openSandbox, Place } from "./engine.ts";
import { PlainBash, type PlainEnd } from "./plain-bash.ts";
import { call, words } from "./sandbox-contract.ts";
import { differences, type Left, leftBy } from "./shell-left.ts";
import { KNOWN_NOTICES, listsAll, noticesAfter, OTHERWISE, SIGNALS, shownOutput } from "./shell-output.ts";

/** What every text begins with: one of each kind of thing that is carried. */
const PROLOGUE = `A=1; export B='two words'; arr=(x y); declare -A m=([k]=v); declare -i n=5
f() { echo "in f $A"; }
my-fn() ( echo sub )
export -f f
alias ll='echo alias of mine'`;

/** Prints the state in the parts a trial compares; the output and exit code are exact whatever came before. */
const PROBE = `\\builtin printf 'probed\\n'
{ \\pwd; \\printf '\\0'; \\umask; \\printf '\\0'; \\declare -p; \\printf '\\0'; \\declare -f; \\declare -F; \\printf '\\0'; \\alias -p; \\printf '\\0\\0end'; } >|`;

const TIMEOUT_SECONDS = 3;
/** Far above what a text and its kill take. */
const MAX_CALL_MS = 30_000;

/** A command with which every text of a trial starts from the same state, whatever the one before it left. */
function resetText(env: Record<string, string>, root: string): string {
  const values = Object.entries(env).map(([name, value]) => `\\export ${name}='${value.replaceAll("'", "'\\''")}'`);
  return `\\unalias -a
POSIXLY_CORRECT=1; \\unset -f unalias builtin compgen export cd unset declare umask kill read; \\unset POSIXLY_CORRECT
unset -v IFS; IFS=$' \\t\\n'
for __name in $(compgen -A function); do unset -f -- "$__name"; done
while read -r __name __name __name; do case \${__name%%=*} in __name|IFS|BASH*|SHELLOPTS|HOSTNAME|HOSTTYPE|MACHTYPE|OSTYPE|SHELL) ;; *) unset -n "\${__name%%=*}"; unset -v "\${__name%%=*}";; esac; done < <(declare -p) 2>/dev/null
unset __name
declare -i OPTIND=1; OPTERR=1 PS4='+ '
${values.join("\n")}
umask 022
cd -- '${root}'
unset BASH_COMPAT BASH_ENV OLDPWD; export OLDPWD`;
}

/** A sandbox and a plain bash that are given the same texts. */
export class ShellTrial {
  readonly #place: Place;
  readonly #plainPlace: Place;
  readonly #plain: PlainBash;
  readonly #env: Record<string, string>;
  #opened: Opened;
  /** Texts whose output, end and state were compared. */
  compared = 0;
  #first: Left | undefined;

  private constructor(place: Place, opened: Opened, plainPlace: Place, plain: PlainBash, env: Record<string, string>) {
    [this.#place, this.#plainPlace, this.#plain, this.#env] = [place, plainPlace, plain, env];
    this.#opened = opened;
  }

  static async open(): Promise<ShellTrial> {
    const [place, plainPlace] = [await Place.create(), await Place.create()];
    await Promise.all([place.root, plainPlace.root].map((root) => chmod(root, 0o777)));
    const opened = await openSandbox(place.root);
    const { facts } = opened.sandbox;
    await call(opened.sandbox, "bash", { command: "env -0 >env" });
    const env = parseEnvironment(await readFile(join(place.root, "env"), "utf8"));
    const plain = await PlainBash.start(facts.image, plainPlace.root, facts);
    return new ShellTrial(place, opened, plainPlace, plain, env);
  }

  async close(): Promise<void> {
    await Promise.all([this.#plain.close(), this.#opened[Symbol.asyncDispose]()]);
    await Promise.all([this.#place, this.#plainPlace].map((place) => place[Symbol.asyncDispose]()));
  }

  /** Throws where the two differ by more than the documents say. */
  async check(text: string): Promise<void> {
    await this.#reset();
    const begun = performance.now();
    const result = await this.#run(text, TIMEOUT_SECONDS);
    must(performance.now() - begun < MAX_CALL_MS, "the call is bounded", performance.now() - begun);
    must(words(result) !== "" && isWellFormed(words(result)), "the result is text", words(result));
    const after = await this.#probe();
    if (text.includes("\0") || !isWellFormed(text)) {
      must(result.status === "invalid", "it is refused", words(result));
      return same(after, await this.#before(), "the state is as before");
    }
    if (await this.#killedToolHost(text, result)) return;
    if (OTHERWISE.some((way) => way.test(text))) return;
    const plain = await this.#runPlain(text);
    if (listsAll(shownOutput(plain))) return;
    this.compared++;
    if (result.status === "timed_out" || plain.timedOut) {
      must(plain.timedOut && result.status === "timed_out", "both run too long", [words(result), plain]);
      return same(after, await this.#before(), "the state after a timeout is as before");
    }
    const notices = this.#compareOutput(text, result, plain);
    await this.#compareState(after, plain, notices);
  }

  async #reset(): Promise<void> {
    await emptied(this.#place.root);
    const result = await this.#run(resetText(this.#env, this.#place.root));
    must(withoutGone(words(result)) === "(no output)", "the reset is silent", words(result));
    const begun = await this.#run(PROLOGUE);
    must(words(begun) === "(no output)", "the prologue is silent", words(begun));
  }

  #run(command: string, timeout = 20): Promise<ToolResult> {
    return call(this.#opened.sandbox, "bash", { command, timeout });
  }

  /** The next call's output and exit code are exact, and nothing of the text comes with them. */
  async #probe(): Promise<Left> {
    const file = join(this.#place.root, "probe-state");
    const result = await this.#run(`${PROBE}'${file}'\n\\exit 7`);
    const said = withoutGone(words(result));
    must(said === "probed\n[exit code 7]" && result.details.exit_code === 7, "the next call is exact", result);
    const left = leftBy(await readFile(file, "latin1"), this.#place.root);
    return { ...left, isFolderGone: said !== words(result) };
  }

  /** The state every text begins with, as a first probe found it. */
  async #before(): Promise<Left> {
    if (this.#first) return this.#first;
    await this.#reset();
    this.#first = await this.#probe();
    return this.#first;
  }

  #runPlain(text: string): Promise<PlainEnd> {
    return this.#plain.run({
      text,
      prologue: PROLOGUE,
      env: this.#env,
      cwd: this.#plainPlace.root,
      timeoutMs: TIMEOUT_SECONDS * 1000,
    });
  }

  /** A tool host ends only by a text that says so, and the result says it too. */
  async #killedToolHost(text: string, result: ToolResult): Promise<boolean> {
    const ended = this.#opened.events.filter(({ event }) => event === "toolhost_restarted" || event === "lost").length;
    if (ended === 0) return /PPID|kill .*-1/.test(text);
    must(/PPID|kill .*-1/.test(text), "the tool host lives", words(result));
    must(result.status === "lost" && words(result).includes("tool host"), "its end is told", words(result));
    await this.#opened[Symbol.asyncDispose]();
    this.#opened = await openSandbox(this.#place.root);
    return true;
  }

  #compareOutput(text: string, result: ToolResult, plain: PlainEnd): string[] {
    const neutral = (of: string): string => {
      let neutral = this.#neutral(of);
      // Of an EXIT trap the first line is ours.
      if (/trap/.test(text)) neutral = neutral.replace(/^bash: (exit trap: )?line \d+:/gm, "bash: $1line N:");
      return /\$\$|PID|\$!/.test(text) ? neutral.replace(/\d{2,}/g, "PID") : neutral;
    };
    const got = neutral(words(result));
    const wanted = neutral(shownOutput(plain));
    const notices = noticesAfter(got, wanted);
    must(notices !== undefined, "the output is that of a plain bash", { got, wanted, text });
    const unknown = (notices ?? []).filter((line) => !KNOWN_NOTICES.some((known) => known.test(line)));
    must(unknown.length === 0, "every notice has a reason", unknown);
    const code = plain.code ?? 128 + (SIGNALS[plain.signal ?? ""] ?? 0);
    must(result.details.exit_code === code, "the exit code is that of a plain bash", [
      result.details,
      plain.code,
      plain.signal,
    ]);
    must(result.status === (code === 0 ? "ok" : "failed"), "the status fits the exit code", result.status);
    return notices ?? [];
  }

  async #compareState(after: Left, plain: PlainEnd, notices: readonly string[]): Promise<void> {
    const before = await this.#before();
    if (notices.some((line) => line.includes("as before this command"))) {
      const mustSave = plain.state !== undefined && !notices.some((line) => /syntax error/.test(line));
      must(!mustSave, "the state is saved where a plain bash comes to its end", notices);
      return same(after, before, "the state is as before");
    }
    if (plain.state === undefined) return;
    same(after, leftBy(plain.state, this.#plainPlace.root, before), "the state is that of a plain bash");
  }

  /** Paths are those of the two places, and the process ids are nobody's. */
  #neutral(text: string): string {
    return (
      text
        .replaceAll(this.#place.folder, "PLACE")
        .replaceAll(this.#plainPlace.folder, "PLACE")
        .replace(/\/[\w./-]+\/run-[0-9a-f]{12}\/shell/g, "bash")
        .replace(/PLACE\/repo-plain\/text/g, "bash")
        // A function that was carried is of a file nobody wrote.
        .replace(/PLACE\/repo-plain\/env: line \d+: /g, "bash: ")
        .replace(/\d+m\d+\.\d+s/g, "TIME")
        .replace(/\/dev\/fd\/\d+/g, "/dev/fd/N")
        .replace(/PPID="?\d+/g, "PPID=N")
        .replace(/^(\[\d+\]) \d+$/gm, "$1 PID")
        // After an assignment bash names a line of the file it read first.
        .replace(/line \d+: +\d+ (?=Killed|Terminated|Done|Exit|Segm|Aborted|Hangup|Quit|User)/g, "line N: PID ")
    );
  }
}

function must(holds: boolean, what: string, met: unknown): void {
  if (!holds)
    throw new Error(`Not so: ${what}. Met: ${typeof met === "string" ? met : JSON.stringify(met, undefined, 1)}`);
}

function same(got: Left, wanted: Left, what: string): void {
  const found = differences(got, wanted);
  must(found.length === 0, what, found);
}

function withoutGone(said: string): string {
  return said
    .replace(/\n\[the directory .* is gone or closed; .*\]/, "")
    .replace(/\n\[.* could not be carried into this command and is gone\]/, "");
}

function parseEnvironment(text: string): Record<string, string> {
  const pairs = text.split("\0").flatMap((entry): [string, string][] => {
    const at = entry.indexOf("=");
    return at > 0 ? [[entry.slice(0, at), entry.slice(at + 1)]] : [];
  });
  return Object.fromEntries(pairs.filter(([name]) => !["_", "PWD", "OLDPWD", "SHLVL"].includes(name)));
}

async function emptied(folder: string): Promise<void> {
  for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true, force: true });
}
