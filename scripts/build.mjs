#!/usr/bin/env node
// Builds dist/: the library (tsc), the tool host's program and the command line (esbuild, one file each and chunks for
// what is loaded on demand). Files appear under their names when they are whole; what is no longer made goes at the end.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const dist = join(root, "dist");

const common = {
  bundle: true,
  platform: "node",
  format: "esm",
  sourcemap: false,
  logLevel: "warning",
  legalComments: "none",
};

// CommonJS inside an ES module needs a `require` for Node's own modules.
const banner = {
  js: [
    'import { createRequire as __createRequire } from "node:module";',
    "const require = __createRequire(import.meta.url);",
    "const __resolve = require.resolve;",
  ].join("\n"),
};

// As a dependency of dockerode, which is all that a strict package manager lets us see.
const LAZY_SSH = 'module.exports = (o) => __createRequire(__resolve("dockerode"))("docker-modem/lib/ssh.js")(o);';

/** What replaces modules of dockerode: ssh is loaded when a host is ssh://, BuildKit sessions and debug output never. */
const replacements = [
  { importer: "docker-modem", module: "./ssh", code: LAZY_SSH },
  { importer: "docker-modem", module: "debug", code: "module.exports = () => () => undefined;" },
  { importer: "docker-modem", module: "readable-stream", code: 'module.exports = require("node:stream");' },
  { importer: "dockerode", module: "./session", code: 'module.exports = () => { throw new Error("not bundled"); };' },
  { importer: "dockerode", module: "./buildkit", code: "module.exports = {};" },
];

/** Requires at the top of a file that become requires at the first use. */
const postponed = [
  ["docker-modem/lib/http.js", "require('https')", "{ request: (...args) => require('https').request(...args) }"],
  ["dockerode/lib/util.js", "require('@balena/dockerignore')", "(...args) => require('@balena/dockerignore')(...args)"],
  ["dockerode/lib/util.js", "require('tar-fs')", "{ pack: (...args) => require('tar-fs').pack(...args) }"],
  ["dockerode/lib/util.js", "require('zlib')", "{ createGzip: () => require('zlib').createGzip() }"],
];

const lazyParts = {
  name: "lazy-parts",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(\.\/(ssh|session|buildkit)|debug|readable-stream)$/ }, ({ importer, path }) => {
      const found = replacements.find(
        (one) => one.module === path && importer.includes(`/node_modules/${one.importer}/lib/`),
      );
      return found && { path: `${found.importer}/${path}`, namespace: "lazy", pluginData: found.code };
    });
    onLoad({ filter: /./, namespace: "lazy" }, ({ pluginData }) => ({ contents: pluginData, resolveDir: root }));
    onLoad({ filter: /\/node_modules\/(docker-modem\/lib\/http|dockerode\/lib\/util)\.js$/ }, async ({ path }) => {
      let contents = await readFile(path, "utf8");
      for (const [file, from, to] of postponed.filter(([name]) => path.endsWith(name))) {
        if (!contents.includes(from)) throw new Error(`${file} has no ${from} any more: update scripts/build.mjs`);
        contents = contents.replace(from, to);
      }
      return { contents };
    });
  },
};

/** Options of esbuild for the command line; the entry is a parameter so that it can be measured with another. */
export function cliOptions(entry, outdir) {
  return {
    ...common,
    entryPoints: { glovebox: entry },
    outdir,
    outExtension: { ".js": ".mjs" },
    chunkNames: "chunks/[name]-[hash]",
    splitting: true,
    target: "node20",
    minify: true,
    banner,
    plugins: [lazyParts],
  };
}

async function buildToolHost(out) {
  const entry = join(root, "src/toolhost/main.ts");
  if (!existsSync(entry)) return warnAbsent(entry);
  const options = {
    entryPoints: [entry],
    outfile: join(out, "toolhost.mjs"),
    target: "node24",
    minifyIdentifiers: true,
  };
  await build({ ...common, ...options, minifySyntax: true, minifyWhitespace: true, banner });
}

async function buildCli(out) {
  const entry = join(root, "src/cli/main.ts");
  if (!existsSync(entry)) return warnAbsent(entry);
  await build(cliOptions(entry, join(out, "bin")));
  const file = join(out, "bin/glovebox.mjs");
  const text = await readFile(file, "utf8");
  if (!text.startsWith("#!")) await writeFile(file, `#!/usr/bin/env node\n${text}`);
  await chmod(file, 0o755);
}

async function buildLibrary(out) {
  const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
  const child = spawn(process.execPath, [tsc, "-p", "tsconfig.build.json", "--outDir", out], {
    cwd: root,
    stdio: "inherit",
  });
  const code = await new Promise((resolve, reject) => child.on("error", reject).on("close", resolve));
  if (code !== 0) throw new Error("tsc reported errors");
}

function warnAbsent(entry) {
  console.warn(`build: ${relative(root, entry)} does not exist, left out`);
}

async function listFiles(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}

/** Moves the new files over the old ones, the entry last, then removes what is left of an earlier build. */
async function publish(from) {
  const fresh = (await listFiles(from)).sort((a, b) => rank(a) - rank(b));
  for (const file of fresh) {
    await mkdir(dirname(join(dist, file)), { recursive: true });
    await rename(join(from, file), join(dist, file));
  }
  const stale = (await listFiles(dist)).filter((file) => !fresh.includes(file));
  await Promise.all(stale.map((file) => rm(join(dist, file), { force: true })));
  await removeEmptyFolders(dist);
}

function rank(file) {
  return file.endsWith("glovebox.mjs") ? 2 : file.includes("chunks") ? 0 : 1;
}

async function removeEmptyFolders(folder) {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await removeEmptyFolders(join(folder, entry.name));
  }
  if (folder !== dist) await rmdir(folder).catch(() => undefined);
}

async function main() {
  const startMs = Date.now();
  await mkdir(dist, { recursive: true });
  // Beside dist/, so that a rename stays on one file system.
  const out = await mkdtemp(join(root, "node_modules/.glovebox-build-"));
  try {
    const parts = await Promise.allSettled([buildToolHost(out), buildCli(out), buildLibrary(out)]);
    const failed = parts.find((part) => part.status === "rejected");
    if (failed) throw failed.reason;
    await publish(out);
  } finally {
    await rm(out, { recursive: true, force: true });
  }
  console.log(`Built dist/ in ${((Date.now() - startMs) / 1000).toFixed(1)} s`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main().catch((error) => {
    console.error(`build: ${error.message}`);
    process.exitCode = 1;
  });
}
