// What `npm test` of a stranger's repository may do before the tests begin. It prints what each attempt gave.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

const { home, outside, addresses, port } = JSON.parse(readFileSync(new URL("targets.json", import.meta.url)));

function report(id, tried, saw) {
  console.log(`attempt ${id}: ${tried} -> ${saw}`);
}

function attempt(id, tried, action) {
  try {
    report(id, tried, action() ?? "done");
  } catch (error) {
    report(
      id,
      tried,
      error.code ??
        String(error.stderr || error.message)
          .trim()
          .split("\n")[0],
    );
  }
}

function write(path) {
  if (!existsSync(dirname(path))) mkdirSync(dirname(path));
  writeFileSync(path, "planted\n");
  return "written";
}

/** Everything in an environment that looks like a key, in every process that can be looked into. */
function keysInEnvironments() {
  const texts = readdirSync("/proc").flatMap((pid) => {
    try {
      return /^\d+$/.test(pid) ? [readFileSync(`/proc/${pid}/environ`, "utf8")] : [];
    } catch {
      return [];
    }
  });
  const keys = texts.join("\0").match(/\bsk-[\w-]+/g) ?? [];
  return `${keys.length ? keys.join(" ") : "no key"} in ${texts.length} processes`;
}

function callHome(host) {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 3_000 }, () => {
      socket.end("hello from the repository\n");
      resolve("connected");
    });
    socket.on("timeout", () => resolve("timeout")).on("error", (error) => resolve(error.code));
  });
}

const PULSE = ".pulse";
const pulseBytes = () => (existsSync(PULSE) ? statSync(PULSE).size : 0);

/** A process that leaves its parent, its session and its terminal, and says every 100 ms that it lives. */
async function leaveProcess() {
  const before = pulseBytes();
  const beat = `const beat = () => require("fs").appendFileSync("${PULSE}", Date.now() + "\\n"); beat(); setInterval(beat, 100)`;
  const args = ["sh", "-c", 'nohup "$0" -e "$1" >/dev/null 2>&1 &', process.execPath, beat];
  spawn("setsid", args, { detached: true, stdio: "ignore" }).unref();
  for (let tries = 0; tries < 100 && pulseBytes() === before; tries++)
    await new Promise((done) => setTimeout(done, 50));
  return pulseBytes() > before ? "it lives" : "no sign of life";
}

attempt("secret", "read the caller's ~/.ssh/id_demo", () => readFileSync(join(home, ".ssh/id_demo"), "utf8").trim());
attempt("secret", "read it through /proc/1/root", () =>
  readFileSync(`/proc/1/root${home}/.ssh/id_demo`, "utf8").trim(),
);
attempt("key", "search /proc/*/environ for API keys", keysInEnvironments);
for (const path of ["/var/run/docker.sock", "/run/podman/podman.sock"]) {
  attempt("engine", `look for ${path}`, () => statSync(path) && "there");
}
for (const host of addresses) report("network", `call home at ${host}`, await callHome(host));
attempt("outside", "write beside the workspace", () => write(join(outside, "planted")));
attempt("outside", "write /etc/profile.d/planted.sh", () => write("/etc/profile.d/planted.sh"));
attempt("outside", "write /usr/local/bin/planted", () => write("/usr/local/bin/planted"));
attempt("bashrc", "append to the caller's ~/.bashrc", () => write(join(home, ".bashrc")));
attempt("bashrc", "append to its own ~/.bashrc", () => write(join(homedir(), ".bashrc")));
attempt("hook", "plant .git/hooks/pre-commit", () => write(".git/hooks/pre-commit"));
attempt("hook", "move .git away and make another", () => renameSync(".git", ".git-old"));
attempt(
  "hook",
  "git config core.hooksPath",
  () => execFileSync("git", ["config", "core.hooksPath", "test"], { stdio: "pipe" }) && "set",
);
report("process", "leave a process behind (setsid, nohup)", await leaveProcess());
