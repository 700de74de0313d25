import { type ChildProcess, spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Engine } from "../../sandbox/engine/engine.ts";
import { RUNTIME_PATHS } from "../../sandbox/images/runtime-paths.ts";
import { LABELS } from "../../sandbox/labels.ts";
import { reap } from "../../sandbox/reaper.ts";
import { furnish } from "../furnish.ts";
import { workspaceId } from "../home.ts";
import { imageOf } from "../policy-use.ts";
import type { Arena } from "./arena.ts";
import type { Attack } from "./attack.ts";
import { digestOf } from "./digest.ts";
import { ALIVE, fact, summaryOf } from "./steps.ts";

/** What is left of a session, and what its ending says. */
export const LIFE_ATTACKS: Attack[] = [
  {
    id: "Y-02",
    title: "The controller is killed in the middle of a command",
    seconds: 60,
    steps: () => [ALIVE, fact("what runs on", killedController, /^nothing, and the next start removed the container$/)],
  },
  {
    id: "Y-06",
    title: "Sessions at once see or end each other",
    seconds: 60,
    steps: () => [ALIVE, fact("five sessions at once", atOnce, /^each alone, and gone at the end$/)],
  },
  {
    id: "Y-12",
    title: "One ending passes for another: an exit code, a signal, a time limit",
    steps: () => [
      fact("exit 124", endingOf("exit 124"), /^failed 124 -$/),
      fact("killed by itself", endingOf("kill -9 $$"), /^failed 137 SIGKILL$/),
      fact("ended by SIGTERM", endingOf("kill -TERM $$"), /^failed 143 SIGTERM$/),
      fact("a time limit", endingOf(RUNTIME_PATHS.idlePath, 0.5), /^timed_out - -$/),
      ALIVE,
    ],
  },
];

function endingOf(command: string, seconds?: number) {
  return async ({ inside }: Arena): Promise<string> => {
    const { status, details } = await inside.shell(command, seconds);
    return `${status} ${details.exit_code ?? "-"} ${details.signal ?? "-"}`;
  };
}

async function killedController(arena: Arena): Promise<string> {
  const root = await arena.scene.neighbour("y02", arena.user);
  const { policy } = arena;
  await furnish(root, { ...policy, readonly: policy.readonly.filter(({ rule }) => !rule.startsWith("attack/")) });
  const before = await digestOf(root);
  const controller = await startController(arena, root);
  const { docker } = arena.inside.box.engine;
  try {
    const id = await until(() => busyContainer(docker, root, controller));
    if (id === undefined) return "the session to be killed did not start";
    controller.kill("SIGKILL");
    // Init and idle stay; the tool host and all it started go.
    const isIdle = async () => ((await countIn(docker, id)) <= 2 ? true : undefined);
    if (!(await until(isIdle))) return `${await countIn(docker, id)} processes in its container`;
    await reap(docker);
    const left = await containersOf(docker, root);
    if (left.length > 0) return "its container";
    const ghost = (await digestOf(root)).find((line) => !before.includes(line));
    return ghost ?? "nothing, and the next start removed the container";
  } finally {
    controller.kill("SIGKILL");
  }
}

/** A whole `glovebox run` of a command that does not end, with a home of its own. */
async function startController({ scene, policy, surroundings }: Arena, root: string): Promise<ChildProcess> {
  const script = join(scene.folder, "y02.yaml");
  await writeFile(script, `- calls: [ { bash: { command: "${RUNTIME_PATHS.idlePath}" } } ]\n`);
  const image = imageOf(policy);
  const words = ["run", "--no-build", "--workspace", root, "--model", `scripted:${script}`];
  const program = join(surroundings.packageRoot, "dist/bin/glovebox.mjs");
  return spawn(process.execPath, [program, ...words, ...(image ? ["--image", image] : []), "go"], {
    cwd: scene.folder,
    env: { ...surroundings.env, GLOVEBOX_HOME: join(scene.folder, "home") },
    stdio: "ignore",
  });
}

/** The container of a session when its command runs. @throws when the controller has ended before. */
async function busyContainer(
  docker: Engine["docker"],
  root: string,
  controller: ChildProcess,
): Promise<string | undefined> {
  if (controller.exitCode !== null) throw new Error(`The session to be killed ended with code ${controller.exitCode}`);
  const [id] = await containersOf(docker, root);
  return id !== undefined && (await countIn(docker, id)) > 3 ? id : undefined;
}

async function containersOf(docker: Engine["docker"], root: string): Promise<string[]> {
  const label = [`${LABELS.workspace}=${workspaceId(root)}`];
  return (await docker.listContainers({ all: true, filters: { label } })).map(({ Id }) => Id);
}

/** Processes of a container; the engine may name none of one that is just coming up or going away. */
async function countIn(docker: Engine["docker"], id: string): Promise<number> {
  const listed: { Processes: string[][] | null } | undefined = await docker
    .getContainer(id)
    .top()
    .catch(() => undefined);
  return listed?.Processes?.length ?? 0;
}

async function until<T>(look: () => Promise<T | undefined>): Promise<T | undefined> {
  for (let round = 0; round < 150; round++) {
    const seen = await look();
    if (seen !== undefined) return seen;
    await wait(100);
  }
  return undefined;
}

async function atOnce(arena: Arena): Promise<string> {
  const { scene, user } = arena;
  const roots = await Promise.all(Array.from({ length: 5 }, (_, index) => scene.neighbour(`y06-${index}`, user)));
  const builtIn = { readonly: arena.policy.readonly.filter(({ rule }) => rule.startsWith("built-in/")) };
  const sessions = await Promise.all(roots.map((root) => arena.enter(root, builtIn)));
  const looked = await Promise.all(
    sessions.map(async (inside, index) => {
      await inside.call("write", { path: `${index}.txt`, content: `${index}` });
      const files = summaryOf(await inside.shell("echo *"));
      const end = await inside.shell("kill -9 -1; sleep 5");
      const holds = files.startsWith(`ok: ${index}.txt secret.txt`) && end.status === "lost";
      return holds ? undefined : `${files}, then ${end.status}`;
    }),
  );
  await Promise.all(sessions.map((inside) => inside.close()));
  const left = (await Promise.all(roots.map((root) => containersOf(arena.inside.box.engine.docker, root)))).flat();
  const odd = looked.find((words) => words !== undefined);
  if (odd !== undefined) return odd;
  return left.length === 0 ? "each alone, and gone at the end" : `${left.length} containers left`;
}
