import { spawn } from "node:child_process";
import { tmpdir } from "node:os";

/** Runs each of `actions` in turn, `rounds` times, so that load on the machine falls on all alike; times in ms by name. */
export async function interleave(actions, { rounds, warmUp = 1 }) {
  const names = Object.keys(actions);
  const times = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = -warmUp; round < rounds; round++) {
    for (const name of names) {
      const ms = await timed(actions[name]);
      if (round >= 0) times[name].push(...[ms].flat());
    }
  }
  return times;
}

/** How long `action` takes in ms, or the number or numbers it gives itself. */
export async function timed(action) {
  const startedAt = performance.now();
  const own = await action();
  return typeof own === "number" || Array.isArray(own) ? own : performance.now() - startedAt;
}

/** The middle and the least of some times. */
export function figures(times) {
  const sorted = times.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const p50 = sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  return { p50: round(p50), min: round(sorted[0]), count: sorted.length };
}

export function round(value, digits = 2) {
  return Number(value.toFixed(digits));
}

/** A program's stdout; rejects when it fails. */
export function output(file, args, { env = process.env } = {}) {
  const child = spawn(file, args, { cwd: tmpdir(), env, stdio: ["ignore", "pipe", "pipe"] });
  const texts = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) {
    child[name].on("data", (chunk) => {
      texts[name] += chunk;
    });
  }
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve(texts.stdout);
      else reject(new Error(`\`${[file, ...args].join(" ")}\` ended with exit code ${code}: ${texts.stderr.trim()}`));
    });
  });
}

/** The most memory this process has while it is watched. */
export function watchMemory() {
  let most = 0;
  const look = () => {
    most = Math.max(most, process.memoryUsage().rss);
  };
  const timer = setInterval(look, 20);
  return {
    stop: () => {
      clearInterval(timer);
      look();
      return most;
    },
  };
}
