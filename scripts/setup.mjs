// What `npm test`, `npm run demo` and `npm run bench` need on a machine that has nothing but Node and npm. Each step says
// what it does, and does nothing when it is done already. No dependencies: this runs before they are there.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { ensureEngine, stop } from "./engine.mjs";

export const root = join(import.meta.dirname, "..");
export const cli = join(root, "dist/bin/glovebox.mjs");

export function say(text) {
  console.error(`— ${text}`);
}

/** Runs a step of the set-up, which prints to stderr; rejects when it fails. */
async function run(file, args, options = {}) {
  const code = await exitOf(file, args, { stdio: ["ignore", process.stderr, process.stderr], ...options });
  if (code !== 0) throw new Error(`\`${[file, ...args].join(" ")}\` ended with exit code ${code}`);
}

/** The exit code of a program run with our terminal. */
export function exitOf(file, args, options = {}) {
  const child = spawn(file, args, { cwd: root, stdio: ["ignore", "inherit", "inherit"], ...options });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve(code ?? 128 + (signal === "SIGINT" ? 2 : 15)));
  });
}

/** Dependencies, engine, build and images, then `work`; an engine that was started here is ended, unless `keepEngine`. */
export async function withEverything(work, { keepEngine = false } = {}) {
  await installDependencies();
  const engine = await ensureEngine({ log: say });
  const end = async () => {
    if (!engine.started || keepEngine) return;
    say(`Ending the engine that was started here (pid ${engine.pid})`);
    await stop(engine);
  };
  try {
    await build();
    await run(process.execPath, [cli, "image", "build"]);
    return await work(engine);
  } finally {
    await end();
  }
}

/** A marker with the hash of the lock file, so that a changed one is installed again. */
async function installDependencies() {
  const marker = join(root, "node_modules/.glovebox-installed");
  const wanted = createHash("sha256")
    .update(await readFile(join(root, "package-lock.json")))
    .digest("hex");
  if (existsSync(marker) && readFileSync(marker, "utf8") === wanted) return;
  say("Installing dependencies (npm ci)");
  await run("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"]);
  await writeFile(marker, wanted);
}

async function build() {
  say("Building dist/");
  await run(process.execPath, [join(root, "scripts/build.mjs")]);
}

/** Programs that tests run on this machine itself, installed where we may, named where we may not. */
export async function ensurePrograms(packages) {
  const missing = Object.entries(packages).filter(([program]) => !isOnPath(program));
  if (missing.length === 0) return;
  const names = missing.map(([, name]) => name);
  if (process.getuid?.() === 0 && isOnPath("apt-get")) {
    say(`Installing ${names.join(", ")}`);
    const quiet = {
      stdio: ["ignore", "ignore", "inherit"],
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    };
    await run("apt-get", ["update", "-qq"], quiet);
    await run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...names], quiet);
    return;
  }
  throw new Error(`The tests need ${names.join(", ")} on this machine; install with its package manager`);
}

function isOnPath(program) {
  return (process.env.PATH ?? "").split(delimiter).some((folder) => existsSync(join(folder, program)));
}

/** Ends a script that failed with one sentence, not a stack trace. */
export function fail(error) {
  console.error(`glovebox: ${error instanceof Error ? error.message : error}`);
  process.exitCode = error?.exitCode ?? 1;
}
