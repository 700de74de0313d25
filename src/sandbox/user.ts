import { chown, readFile } from "node:fs/promises";
import { join } from "node:path";
import { writeAtomically } from "../core/atomic-file.ts";
import { GloveboxError } from "../core/errors.ts";
import type { Engine } from "./engine/engine.ts";
import { createHelper, type HelperOptions } from "./helper.ts";
import type { User } from "./identity.ts";
import { RUNTIME_PATHS } from "./images/runtime-paths.ts";

/** What an unmapped owner looks like from inside: the kernel's overflow id. */
const OVERFLOW_ID = 65_534;

/**
 * The user whose files `host`'s are, as seen from inside a container of this engine. Where the engine maps ids
 * (rootless, userns-remap) a probe file of that user is looked at from inside, once per engine; it is never guessed.
 * @throws GloveboxError `ENGINE_UNSUPPORTED` where that user does not exist inside.
 */
export async function userInside(engine: Engine, host: User, options: HelperOptions): Promise<User> {
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

async function look(engine: Engine, probe: string, options: HelperOptions): Promise<string> {
  const command = [RUNTIME_PATHS.nodePath, "--openssl-config=/dev/null", "-e", STAT_PROBE];
  const mounts = [{ source: probe, target: "/probe", readOnly: true }];
  return (await createHelper(engine, options).run({ command, mounts })).stdout;
}
