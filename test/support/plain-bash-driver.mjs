import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { Socket } from "node:net";
import { createInterface } from "node:readline";

/*
 * Runs texts with a plain bash, one a line of stdin, and tells on stdout what each printed, how it ended and, by an
 * EXIT trap, what state it left. It runs as root beside the user whose bash it starts, so that no text can end it.
 */

const [folder, uid, gid] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const files = {
  text: `${folder}/text`,
  fifo: `${folder}/fifo`,
  env: `${folder}/env`,
  dump: `${folder}/dump`,
  state: `${folder}/state`,
};
execFileSync("mkfifo", ["-m", "666", files.fifo]);
chmodSync(folder, 0o777);
const before = new Set(processes());

const DUMP = `\\set +euvxn
\\unset -f enable builtin declare printf alias unset trap shopt pwd umask local eval mapfile
\\unset POSIXLY_CORRECT
\\shopt -u expand_aliases
enable declare printf alias pwd umask local
{ pwd; printf '\\0'; umask; printf '\\0'; declare -p; printf '\\0'; declare -f; declare -F; printf '\\0'; alias -p; printf '\\0'; local -p; printf '\\0end'; } >|${files.state}
`;
const TRAP = `trap '{ POSIXLY_CORRECT=1; \\trap - DEBUG ERR RETURN; \\. ${files.dump}; } >/dev/null 2>&1' EXIT\n`;

function processes() {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name));
}

function killNew() {
  for (let round = 0; round < 3; round++) {
    const mine = processes().filter((pid) => {
      if (before.has(pid) || Number(pid) === process.pid) return false;
      try {
        return (
          statSync(`/proc/${pid}`).uid === uid ||
          /^Uid:\t(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] === String(uid)
        );
      } catch {
        return false;
      }
    });
    for (const pid of mine) {
      try {
        process.kill(Number(pid), "SIGKILL");
      } catch {}
    }
  }
}

async function runOnce({ text, prologue, env, cwd, timeoutMs }, withDump) {
  mkdirSync(env.HOME, { recursive: true });
  chmodSync(env.HOME, 0o777);
  writeFileSync(files.text, text);
  writeFileSync(files.env, `unset BASH_ENV\n${prologue}\n${withDump ? TRAP : ""}[[ ready ]]\n`);
  writeFileSync(files.dump, DUMP);
  writeFileSync(files.state, "");
  for (const file of [files.text, files.env, files.dump]) chmodSync(file, 0o644);
  chmodSync(files.state, 0o666);
  const reader = openSync(files.fifo, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(files.fifo, constants.O_WRONLY);
  const nothing = openSync("/dev/null", "r");
  const args = ["--noprofile", "--norc", "-O", "extglob", "-O", "expand_aliases", files.text];
  const child = spawn("/bin/bash", args, {
    cwd,
    uid,
    gid,
    env: { ...env, BASH_ENV: files.env },
    stdio: [nothing, writer, writer],
    detached: true,
  });
  closeSync(writer);
  closeSync(nothing);
  const chunks = [];
  const output = new Socket({ fd: reader, readable: true, writable: false });
  output.on("data", (chunk) => chunks.push(chunk));
  output.on("error", () => undefined);
  const closed = new Promise((resolve) => output.once("close", resolve));
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    killNew();
  }, timeoutMs);
  const [code, signal] = await new Promise((resolve) => child.once("exit", (...end) => resolve(end)));
  clearTimeout(timer);
  await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, 50))]);
  killNew();
  output.destroy();
  const state = readFileSync(files.state, "latin1");
  return {
    output: Buffer.concat(chunks).toString("base64"),
    code,
    signal,
    timedOut,
    ...(state.endsWith("\0end") && { state }),
  };
}

function emptied(folder) {
  for (const name of readdirSync(folder)) rmSync(`${folder}/${name}`, { recursive: true, force: true });
}

async function runTwice(request) {
  const plain = await runOnce(request, false);
  emptied(request.cwd);
  const { state } = await runOnce(request, true);
  emptied(request.cwd);
  return { ...plain, state };
}

process.on("exit", (code) => process.stderr.write(`The driver ended with ${code}\n`));
for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(Buffer.from(line, "base64").toString());
  const answer = await runTwice(request).catch((error) => ({ problem: String(error.stack) }));
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
