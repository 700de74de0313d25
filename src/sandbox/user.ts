import { chown, readFile } from "node:fs/promises";
import { join } from "node:path";
import { writeAtomically } from "../core/atomic-file.ts";
import { GloveboxError } from "../core/errors.ts";
import { demultiplex } from "./channel.ts";
import { removeContainer } from "./engine/containers.ts";
import type { Engine } from "./engine/engine.ts";
import type { User } from "./identity.ts";
import { RUNTIME_PATHS } from "./images/runtime-paths.ts";
import { probeLabels } from "./owner.ts";
import { RUNTIME_ROOT } from "./places.ts";

export type UserOptions = { imageId: string; runtimeVolume: string; version: string; cacheDir: string };

/** What an unmapped owner looks like from inside: the kernel's overflow id. */
const OVERFLOW_ID = 65_534;

/**
 * The user whose files `host`'s are, as seen from inside a container of this engine. Where the engine maps ids
 * (rootless, userns-remap) a probe file of that user is looked at from inside, once per engine; it is never guessed.
 * @throws GloveboxError `ENGINE_UNSUPPORTED` where that user does not exist inside.
 */
export async function userInside(engine: Engine, host: User, options: UserOptions): Promise<User> {
  if (!engine.isRootless && !engine.isRemapped) return host;
  const note = join(options.cacheDir, "users", `${engine.id.replace(/[^\w-]/g, "-")}-${host.uid}-${host.gid}`);
  const noted = parseUser(await readFile(note, "utf8").catch(() => ""));
  if (noted) return noted;
  const probe = join(options.cacheDir, "users", `probe-${host.uid}-${host.gid}`);
  await writeAtomically(probe, "", 0o600);
  // Only root can be asked to work for another user, and only root can make a file that is another's.
  if (process.getuid?.() === 0) await chown(probe, host.uid, host.gid);
  const seen = parseUser(await look(engine, probe, options));
  if (!seen || seen.uid === OVERFLOW_ID) {
    throw new GloveboxError(
      "ENGINE_UNSUPPORTED",
      `The engine at \`${engine.endpoint}\` maps users, and uid ${host.uid} is none of those it maps`,
      {
        hint: "Use the engine of the user who owns the files, such as a rootless one, or one without userns-remap",
      },
    );
  }
  await writeAtomically(note, `${seen.uid}:${seen.gid}`, 0o600);
  return seen;
}

function parseUser(text: string): User | undefined {
  const match = /(\d+):(\d+)\s*$/.exec(text);
  return match ? { uid: Number(match[1]), gid: Number(match[2]) } : undefined;
}

const STAT_PROBE = "const s = require('fs').statSync('/probe'); process.stdout.write(s.uid + ':' + s.gid)";

async function look({ docker }: Engine, probe: string, options: UserOptions): Promise<string> {
  const container = await docker.createContainer({
    Image: options.imageId,
    Entrypoint: [RUNTIME_PATHS.nodePath, "-e", STAT_PROBE],
    Cmd: [],
    Labels: await probeLabels(options.version),
    HostConfig: {
      NetworkMode: "none",
      CapDrop: ["ALL"],
      SecurityOpt: ["no-new-privileges:true"],
      ReadonlyRootfs: true,
      Mounts: [
        { Type: "bind", Source: probe, Target: "/probe", ReadOnly: true },
        { Type: "volume", Source: options.runtimeVolume, Target: RUNTIME_ROOT, ReadOnly: true },
      ],
    },
  });
  try {
    const stream = await container.attach({ stream: true, stdout: true, stderr: true });
    const chunks: Buffer[] = [];
    demultiplex(stream, { stdout: (bytes) => chunks.push(bytes) > 0, stderr: () => true });
    await container.start();
    await container.wait();
    return Buffer.concat(chunks).toString("utf8");
  } finally {
    await removeContainer(container);
  }
}
