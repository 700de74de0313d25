import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cli, Place } from "../support/engine.ts";

const run = promisify(execFile);

/** What a package manager does here, if it can, and what it must then do inside. */
const REGISTRIES = [
  {
    name: "npm",
    proof: /./,
    here: ["npm", "view", "is-odd", "version"],
    inside:
      "mkdir /tmp/n && cd /tmp/n && timeout 60 npm install --no-audit --no-fund --fetch-retries=0 --loglevel=error is-odd >/dev/null && node -p 'require(\"is-odd\")(3)'",
    prints: /^true\n/,
  },
  {
    name: "apt",
    proof: /./,
    here: ["apt-get", "-qq", "--print-uris", "download", "hello"],
    inside:
      "mkdir -p /tmp/apt/lists/partial /tmp/apt/archives/partial && apt-get -qq -o Dir::State::Lists=/tmp/apt/lists -o Dir::Cache=/tmp/apt -o APT::Sandbox::User= -o Debug::NoLocking=1 update && apt-cache -o Dir::State::Lists=/tmp/apt/lists -o Dir::Cache=/tmp/apt policy hello | head -1",
    prints: /^hello:\n/m,
  },
  {
    name: "pip",
    // A wheel that lies on this machine proves no registry.
    proof: /Downloading/,
    here: ["python3", "-m", "pip", "download", "--no-deps", "--no-cache-dir", "-d", "/dev/shm/glovebox-pip", "six"],
    inside:
      "python3 -m venv /tmp/v && /tmp/v/bin/pip install --retries 0 -q six && /tmp/v/bin/python -c 'import six; print(six.PY3)'",
    prints: /^True\n/,
  },
] as const;

describe("a package manager with the registry it has on this machine", () => {
  let place: Place;
  beforeAll(async () => {
    place = await Place.create();
  });
  afterAll(() => place?.[Symbol.asyncDispose]());

  it.for(REGISTRIES)(
    "O-NET-06 $name installs by `registry: $name`",
    async ({ name, here, proof, inside, prints }, { skip }) => {
      const [program, ...args] = here;
      const problem = await run(program, args, { cwd: "/", timeout: 30_000 }).then(
        ({ stdout }) => (proof.test(stdout) ? undefined : "what was asked for lies on it"),
        (error: Error) => error.message.split("\n").slice(0, 2).join(" "),
      );
      if (problem !== undefined) return skip(`${name} reaches no registry from this machine: ${problem.slice(0, 200)}`);
      const policy = join(place.folder, "policy.yaml");
      await writeFile(policy, `version: 1\nnetwork: { allow: [{ registry: ${name} }] }\n`);
      const options = { env: { ...process.env, GLOVEBOX_HOME: join(place.folder, "home") } };
      const command = ["--workspace", place.root, "--", "bash", "-c", inside];
      const allowed = await cli(["exec", "--policy", policy, ...command], options);
      const special = /resolves to (?:an address for documentation|a private address|a shared address)/.exec(
        allowed.stderr,
      );
      if (special) return skip(`${name}: the registry of this machine ${special[0]}, which no rule for it admits`);
      expect([allowed.code, allowed.stdout]).toEqual([0, expect.stringMatching(prints)]);
    },
  );
});
