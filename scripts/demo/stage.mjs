import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { hashTree } from "./files.mjs";
import { repoFiles } from "./repo.mjs";
import { scriptText } from "./script.mjs";

/**
 * A folder with a person's home (a private key in it), a repository nobody should trust, and a script for the model.
 * Everything a thief could want is a canary: random, and of no use.
 */
export async function createStage({ addresses, port }) {
  const folder = await mkdtemp(join(await place(), "glovebox-demo-"));
  const stage = {
    folder,
    home: join(folder, "home"),
    repo: join(folder, "repo"),
    outside: join(folder, "outside"),
    script: join(folder, "model.yaml"),
    secret: `demo private key ${randomBytes(24).toString("hex")}`,
    apiKey: `sk-demo-${randomBytes(24).toString("hex")}`,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
  await writeFiles(stage.home, { ".ssh/id_demo": `${stage.secret}\n`, ".bashrc": "# the caller's own\n" });
  await mkdir(stage.outside);
  await writeFile(stage.script, scriptText);
  await writeFiles(stage.repo, repoFiles({ ...stage, addresses, port }));
  await commitAll(stage.repo);
  return { ...stage, before: { home: await hashTree(stage.home), repo: await hashTree(stage.repo) } };
}

/** Not below /tmp where that can be helped: a sandbox has a /tmp of its own, and what is written there proves little. */
async function place() {
  const candidate = process.platform === "linux" ? "/var/tmp" : tmpdir();
  return realpath(candidate).catch(() => realpath(tmpdir()));
}

async function writeFiles(folder, files) {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
}

/** The only time git runs here: before any program of the repository does, without templates, hooks or settings. */
async function commitAll(repo) {
  const env = { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1", HOME: repo };
  const git = (...args) => promisify(execFile)("git", ["-c", "core.hooksPath=/dev/null", ...args], { cwd: repo, env });
  const who = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.com"];
  await git("init", "--quiet", "--template=", "--initial-branch=main");
  await git("add", "--all");
  await git(...who, "commit", "--quiet", "--message=A small shop");
}
