import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { cli, root } from "../setup.mjs";

export const PROMPT = "The tests fail. Find out why and repair it.";

/** Runs glovebox as a person would, with canaries for a home and a key; gives what its log and the engine say. */
export async function runSession(stage, engine) {
  const gloveboxHome = resolve(process.env.GLOVEBOX_HOME || join(homedir(), ".glovebox"));
  const workspaceId = createHash("sha256").update(stage.repo).digest("hex").slice(0, 16);
  const docker = await connect();
  const list = () => listContainers(docker, `glovebox.workspace=${workspaceId}`);
  const args = ["run", "--workspace", stage.repo, "--model", `scripted:${stage.script}`, PROMPT];
  const child = spawn(process.execPath, [cli, ...args], {
    cwd: stage.folder,
    env: callerEnv(stage, { gloveboxHome, endpoint: engine.endpoint }),
    stdio: ["ignore", "inherit", "inherit"],
  });
  const watch = watchContainers(docker, list);
  const exitCode = await new Promise((done) => child.on("close", (code) => done(code ?? 130)));
  const endedAt = Date.now();
  const during = await watch.stop();
  const log = await readLog(join(gloveboxHome, "sessions", workspaceId));
  return { ...log, exitCode, endedAt, containers: { ...during, after: (await list()).length } };
}

function callerEnv(stage, { gloveboxHome, endpoint }) {
  const kept = ["PATH", "TERM", "NO_COLOR", "LANG", "XDG_RUNTIME_DIR", "DOCKER_HOST", "DOCKER_CONTEXT"];
  const docker = ["DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH"];
  const passed = [...kept, ...docker].flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : []));
  return {
    ...Object.fromEntries(passed),
    // An engine in the real home would not be found from the other one.
    ...(endpoint.startsWith(homedir()) && { DOCKER_HOST: `unix://${endpoint}` }),
    DOCKER_CONFIG: process.env.DOCKER_CONFIG || join(homedir(), ".docker"),
    HOME: stage.home,
    GLOVEBOX_HOME: gloveboxHome,
    OPENAI_API_KEY: stage.apiKey,
  };
}

async function connect() {
  const { connectEngine } = await import(join(root, "dist/sandbox/engine/engine.js"));
  const { docker } = await connectEngine({ env: process.env, home: homedir(), uid: process.getuid?.() });
  return docker;
}

function listContainers(docker, label) {
  return docker.listContainers({ all: true, filters: { label: [label] } });
}

/** What the engine itself says while the run goes on: that nothing is left later means something only when it was there. */
function watchContainers(docker, list) {
  const seen = new Map();
  let stopped = false;
  const look = async () => {
    while (!stopped) {
      for (const { Id } of await list()) {
        // One that is just being removed cannot be inspected; it was, before.
        const info = await docker
          .getContainer(Id)
          .inspect()
          .catch(() => undefined);
        if (info) seen.set(Id, info);
      }
      await new Promise((done) => setTimeout(done, 100));
    }
  };
  const looking = look();
  // Awaited by `stop`; until then a failure must not count as unhandled.
  looking.catch(() => undefined);
  return {
    stop: async () => {
      stopped = true;
      await looking;
      return { during: [...seen.values()] };
    },
  };
}

async function readLog(folder) {
  const [name] = await readdir(folder).catch(() => []);
  if (!name) throw new Error("The run left no session; its words above say why");
  const file = join(folder, name);
  const text = await readFile(file, "utf8");
  const [header, ...events] = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  return { id: header.id, file, text, results: events.filter(({ type }) => type === "tool_result"), events };
}
