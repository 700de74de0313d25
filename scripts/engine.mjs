#!/usr/bin/env node
// Makes sure that a container engine answers, before anything is installed: uses the one that is there, else installs
// and starts Docker on a Debian or Ubuntu of which we are root. Never configures or stops an engine it did not start.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, openSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { get } from "node:http";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const LOG_FILE = join(tmpdir(), "glovebox-dockerd.log");
const START_MS = 60_000;
const SOCKET = "/var/run/docker.sock";

/** `started`: by us, to be ended with `stop`. Throws an Error with one sentence when there is no engine to be had. */
export async function ensureEngine({ log = console.error, env = process.env } = {}) {
  const endpoint = await findEngine(env);
  if (endpoint) return { started: false, endpoint };
  if (env.DOCKER_HOST) throw new Error(`DOCKER_HOST is \`${env.DOCKER_HOST}\`, where no engine answers`);
  refuseWhereImpossible();
  if (!hasCommand("dockerd")) installDocker(log);
  const pid = await startDaemon(log);
  return { started: pid !== undefined, endpoint: SOCKET, pid };
}

/** Ends a daemon that `ensureEngine` started, and its containerd and shims. */
export async function stop({ pid }) {
  const family = descendants(pid);
  signalAll([pid], "SIGTERM");
  if (!(await allGone([pid], 15_000))) signalAll([pid], "SIGKILL");
  await allGone([pid], 5_000);
  const left = [...new Set([...family, ...orphans(pid)])];
  signalAll(left, "SIGTERM");
  if (!(await allGone(left, 5_000))) signalAll(left, "SIGKILL");
  await allGone(left, 5_000);
}

async function findEngine(env) {
  const named = env.DOCKER_HOST;
  if (named) return (await answers(addressOf(named))) ? named : undefined;
  const home = homedir();
  const runtimeDir = env.XDG_RUNTIME_DIR;
  const sockets = [
    SOCKET,
    runtimeDir && join(runtimeDir, "docker.sock"),
    join(home, ".docker/run/docker.sock"),
    join(home, ".docker/desktop/docker.sock"),
    runtimeDir && join(runtimeDir, "podman/podman.sock"),
    "/run/podman/podman.sock",
  ];
  for (const socketPath of sockets) {
    if (socketPath && existsSync(socketPath) && (await answers({ socketPath }))) return socketPath;
  }
  return undefined;
}

/** Undefined for what a plain request cannot ask (ssh, TLS): the command line finds out. */
function addressOf(text) {
  if (text.startsWith("unix://")) return { socketPath: text.slice("unix://".length) };
  if (process.env.DOCKER_TLS_VERIFY || !URL.canParse(text) || !text.startsWith("tcp:")) return undefined;
  const { hostname, port } = new URL(text);
  return { host: hostname, port: port || 2375 };
}

function answers(address) {
  if (!address) return true;
  return new Promise((resolve) => {
    const request = get({ ...address, path: "/_ping", timeout: 5_000, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on("timeout", () => request.destroy()).on("error", () => resolve(false));
  });
}

function refuseWhereImpossible() {
  const release = existsSync("/etc/os-release") ? readFileSync("/etc/os-release", "utf8") : "";
  const isDebian = /^ID(_LIKE)?=.*(debian|ubuntu)/m.test(release);
  if (isDebian && process.getuid?.() === 0) return;
  if (hasCommand("dockerd") && process.getuid?.() === 0) return;
  throw new Error("No container engine answers; start Docker or Podman, or run this as root on Debian or Ubuntu");
}

function hasCommand(name) {
  const path = `${process.env.PATH ?? ""}:/usr/sbin:/usr/local/sbin:/sbin`;
  return path.split(":").some((folder) => existsSync(join(folder, name)));
}

function installDocker(log) {
  log("Installing Docker with apt-get, once, about a minute");
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const commands = [
    ["update", "-q"],
    ["install", "-y", "-q", "--no-install-recommends", "docker.io", "iptables", "ca-certificates"],
  ];
  for (const args of commands) {
    log(`apt-get ${args[0]}`);
    const { status, stderr, stdout } = spawnSync("apt-get", args, { env, encoding: "utf8", maxBuffer: 1 << 26 });
    if (status !== 0) throw new Error(`\`apt-get ${args[0]}\` failed: ${lastLine(stderr) || lastLine(stdout)}`);
  }
}

async function startDaemon(log) {
  // Where there is an init system, the package has started it, and it is not ours to stop.
  if (await answers({ socketPath: SOCKET })) return undefined;
  for (const [file, program] of PID_FILES) removeStale(file, program);
  log(`Starting dockerd, its log is ${LOG_FILE}`);
  const output = openSync(LOG_FILE, "w");
  const path = `${process.env.PATH ?? ""}:/usr/sbin:/usr/local/sbin:/sbin`;
  const options = { detached: true, stdio: ["ignore", output, output], env: { ...process.env, PATH: path } };
  const child = spawn("dockerd", [], options);
  let ended = false;
  child.on("exit", () => (ended = true)).on("error", () => (ended = true));
  child.unref();
  for (const endMs = Date.now() + START_MS; Date.now() < endMs && !ended; await sleep(200)) {
    if (await answers({ socketPath: SOCKET })) return child.pid;
  }
  if (child.pid && !ended) await stop({ pid: child.pid });
  const tail = readFileSync(LOG_FILE, "utf8").trim().split("\n").slice(-15).join("\n");
  throw new Error(
    `dockerd ${ended ? "ended at once" : "did not answer within 60 s"}; the end of ${LOG_FILE}:\n${tail}`,
  );
}

/** A daemon that was killed leaves them, and the next one takes whoever has that pid now, or a zombie, for a daemon. */
const PID_FILES = [
  ["/var/run/docker.pid", "dockerd"],
  ["/var/run/docker/containerd/containerd.pid", "containerd"],
];

/** Removes a pid file unless a live process of that name has the pid. */
export function removeStale(file, program) {
  if (!existsSync(file)) return;
  const pid = readFileSync(file, "utf8").trim();
  if (!/^\d+$/.test(pid) || nameOf(pid) !== program) rmSync(file, { force: true });
}

/** The name of a live process; undefined for a zombie and for none. */
function nameOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const end = stat.lastIndexOf(")");
    return stat[end + 2] === "Z" ? undefined : stat.slice(stat.indexOf("(") + 1, end);
  } catch {
    return undefined;
  }
}

/** Every process as {pid, parent, session}, from /proc/PID/stat (proc(5)). */
function processes() {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      const [state, parent, , session] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return state === "Z" ? [] : [{ pid: Number(name), parent: Number(parent), session: Number(session) }];
    } catch {
      return [];
    }
  });
}

function descendants(pid) {
  const all = processes();
  const children = (parent) =>
    all.filter((one) => one.parent === parent).flatMap((one) => [one.pid, ...children(one.pid)]);
  return children(pid);
}

/** The daemon leads a session; containerd stays in it when the daemon is gone. */
function orphans(session) {
  return processes().flatMap((one) => (one.session === session ? [one.pid, ...descendants(one.pid)] : []));
}

function signalAll(pids, signal) {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if (error.code !== "ESRCH") throw error;
    }
  }
}

async function allGone(pids, withinMs) {
  for (const endMs = Date.now() + withinMs; Date.now() < endMs; await sleep(50)) {
    const running = new Set(processes().map((one) => one.pid));
    if (!pids.some((pid) => running.has(pid))) return true;
  }
  return false;
}

function lastLine(text) {
  return text.trim().split("\n").at(-1) ?? "";
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    const { started, endpoint, pid } = await ensureEngine();
    console.error(started ? `Started dockerd (pid ${pid}) at ${endpoint}` : `An engine answers at ${endpoint}`);
  } catch (error) {
    console.error(error.message);
    process.exitCode = 5;
  }
}
