import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

/** Programs that write down how they were called and do nothing else. */
export class StubPrograms implements AsyncDisposable {
  readonly #folder: string;
  readonly #log: string;

  private constructor(folder: string) {
    this.#folder = folder;
    this.#log = join(folder, "log");
  }

  static async create(names: readonly string[]): Promise<StubPrograms> {
    const stubs = new StubPrograms(await mkdtemp(join(tmpdir(), "glovebox-stubs-")));
    await mkdir(join(stubs.#folder, "bin"));
    // One write for a call: stubs in a pipeline run at the same time.
    const text = `#!/bin/sh
call="\${0##*/}"
for word; do call="$call$(printf '\\037')$word"; done
printf '%s\\036' "$call" >> '${stubs.#log}'
`;
    for (const name of names) {
      const path = join(stubs.#folder, "bin", name);
      await writeFile(path, text);
      await chmod(path, 0o755);
    }
    return stubs;
  }

  /** The calls that a real shell makes for `text`, each as its words; whatever else becomes of it. */
  async callsOf(text: string): Promise<string[][]> {
    await writeFile(this.#log, "");
    const env = { PATH: [join(this.#folder, "bin"), "/usr/bin", "/bin"].join(delimiter), HOME: this.#folder };
    await new Promise((resolve) => {
      const child = execFile("bash", ["-c", text], { cwd: this.#folder, env, timeout: 5_000 }, resolve);
      child.stdin?.end();
    });
    const log = await readFile(this.#log, "utf8");
    return log
      .split("\u001e")
      .slice(0, -1)
      .map((call) => call.split("\u001f"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}
