import { chmod, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A folder of programs that stand for package managers of a machine, with a home folder for their configuration. */
export class PackageManagers implements AsyncDisposable {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async create(): Promise<PackageManagers> {
    const managers = new PackageManagers(await realpath(await mkdtemp(join(tmpdir(), "glovebox-managers-"))));
    await mkdir(managers.home);
    await mkdir(managers.bin);
    return managers;
  }

  get bin(): string {
    return join(this.folder, "bin");
  }

  get home(): string {
    return join(this.folder, "home");
  }

  /** Where programs may note things, since their environment tells them nothing. */
  get notes(): Promise<string> {
    return readFile(join(this.folder, "notes"), "utf8").catch(() => "");
  }

  /** A program of these shell commands, in which `$NOTES` is a file; in `bin`, or where else it is to be. */
  async shell(name: string, commands: string, folder = this.bin): Promise<void> {
    await this.#program(join(folder, name), `#!/bin/sh\nNOTES='${join(this.folder, "notes")}'\n${commands}\n`);
  }

  /** A program in JavaScript, by this very node. */
  async node(name: string, code: string): Promise<void> {
    await this.#program(join(this.bin, name), `#!${process.execPath}\n${code}\n`);
  }

  /** A file of the home folder. */
  async write(path: string, text: string): Promise<void> {
    const file = join(this.home, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }

  async #program(file: string, text: string): Promise<void> {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
    await chmod(file, 0o755);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}
