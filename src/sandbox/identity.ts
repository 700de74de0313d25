import type { ContainerSpec } from "./container-spec.ts";
import type { ImageContents } from "./image-contents.ts";
import { keptFile } from "./kept-file.ts";
import { HOME } from "./places.ts";

export type User = { uid: number; gid: number };

/** The image's passwd file in which `user` has a name and our HOME; everybody else is left as they were. */
export function passwdFor(passwd: string, { uid, gid }: User, shell: string): string {
  const lines = linesOf(passwd);
  const known = lines.some((line) => line.split(":")[2] === String(uid));
  const kept = lines.map((line) => {
    const fields = line.split(":");
    return fields.length === 7 && fields[2] === String(uid) ? fields.with(5, HOME).join(":") : line;
  });
  return `${[...kept, ...(known ? [] : [`glovebox:x:${uid}:${gid}:glovebox:${HOME}:${shell}`])].join("\n")}\n`;
}

/** The image's group file in which `gid` has a name. */
export function groupFor(group: string, gid: number): string {
  const lines = linesOf(group);
  const known = lines.some((line) => line.split(":")[2] === String(gid));
  return `${[...lines, ...(known ? [] : [`glovebox:x:${gid}:`])].join("\n")}\n`;
}

/** The files that give `user` a name in a container, by content in the cache; made when they are not there yet. */
export async function identityFiles(
  contents: ImageContents,
  user: User,
  cacheDir: string,
): Promise<ContainerSpec["identity"]> {
  const passwd = passwdFor(contents.passwd, user, contents.shell?.path ?? "/bin/sh");
  const group = groupFor(contents.group, user.gid);
  return { passwd: await keptFile(passwd, cacheDir), group: await keptFile(group, cacheDir) };
}

function linesOf(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}
