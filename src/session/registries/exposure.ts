import { readdir, readlink } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { isWithin } from "../../core/path-rules.ts";
import type { Programs } from "./programs.ts";

/** Below the home folder, unless absolute; `/*` is all that is in a folder. Tools that choose which program runs. */
const OF_ALL = [
  ...[".local/bin", ".local/lib", ".local/share/mise", ".config/mise", ".asdf", ".tool-versions", ".volta", ".nvm"],
  ...[".nodenv", ".pyenv", ".pyenv/versions/*", ".rustup", ".rustup/toolchains/*"],
];

/** What a package manager takes code or configuration from, besides the folders of its program. */
const OF_ONE: Record<string, readonly string[]> = {
  npm: [
    ...[".npmrc", ".npm", ".npm-global", ".npm-packages", ".node_modules", ".node_libraries"],
    ...["/.npmrc", "/etc/npmrc", "/usr/etc/npmrc", "/usr/local/etc/npmrc"],
  ],
  pip: [
    ...[".config/pip/pip.conf", ".pip/pip.conf", "Library/Application Support/pip/pip.conf"],
    ...["/etc/pip.conf", "/etc/xdg/pip/pip.conf"],
  ],
  cargo: [".cargo", ".cargo/config", ".cargo/config.toml", ".cargo/registry/index/*", "/.cargo"],
  go: ["go/bin", "go/pkg", ".config/go/env", "Library/Application Support/go/env"],
  apt: ["/etc/apt/*", "/etc/apt/apt.conf.d/*", "/etc/apt/sources.list.d/*", "/usr/lib/apt", "/var/lib/apt"],
};

/** Programs that those which are scripts or proxies are run by. */
const HELPERS = ["env", "sh", "bash", "node", "rustc", "rustup", "git"];

/** Of a prefix in which a program is: its own, unlike `/usr/src`. */
const OF_PREFIX = ["bin", "sbin", "lib", "lib64", "libexec", "share", "etc", "shims"];

/**
 * A place from which a package manager takes code or configuration, and which the workspace contains, lies in, or is
 * passed through on the way there: whoever changes the workspace could then run code here, or choose the hosts.
 */
export async function exposedPlace(name: string, programs: Programs): Promise<string | undefined> {
  const ofProgram = await programPlaces(await programs.locate(name));
  const listed = [...(OF_ONE[name] ?? []), ...OF_ALL].map((place) =>
    isAbsolute(place) ? place : join(programs.home, place),
  );
  const helpers = programs.path.flatMap((folder) => HELPERS.map((helper) => join(folder, helper)));
  return firstExposed([...ofProgram, ...(await expanded(listed)), ...helpers], programs.root);
}

/** The first of these places that the workspace at `root` reaches. */
export async function firstExposed(places: readonly string[], root: string): Promise<string | undefined> {
  for (const place of places) {
    const way = await wayTo(place);
    if (way.some((step) => isWithin(step, root)) || isWithin(root, way.at(-1) ?? place)) return place;
  }
  return undefined;
}

async function expanded(places: readonly string[]): Promise<string[]> {
  const lists = await Promise.all(
    places.map(async (place) => {
      if (!place.endsWith("/*")) return [place];
      const folder = dirname(place);
      const names = await readdir(folder).catch(() => []);
      return [folder, ...names.map((entry) => join(folder, entry))];
    }),
  );
  return lists.flat();
}

/** Around a program as PATH has it and as it really is, also where a script of node looks for modules. */
async function programPlaces(file: string | undefined): Promise<string[]> {
  if (file === undefined) return [];
  const real = (await wayTo(file)).at(-1) ?? file;
  const prefixes = [file, real].map((path) => dirname(dirname(path)));
  return [
    ...[file, dirname(file), dirname(real)],
    ...prefixes.flatMap((prefix) => OF_PREFIX.map((folder) => join(prefix, folder))),
    ...foldersAbove(real).map((folder) => join(folder, "node_modules")),
  ];
}

function foldersAbove(path: string): string[] {
  const folder = dirname(path);
  return folder === path ? [] : [folder, ...foldersAbove(folder)];
}

const MOST_LINKS = 40;

/** Every name that is looked at on the way to a path, each where it really is, the last one being the path itself. */
async function wayTo(path: string): Promise<string[]> {
  const way: string[] = [];
  let at = "/";
  let rest = path.split("/");
  for (let links = 0; rest.length > 0; ) {
    const [name = "", ...after] = rest;
    const next = join(at, name);
    way.push(next);
    const target = links < MOST_LINKS ? await readlink(next).catch(() => undefined) : undefined;
    if (target !== undefined) links++;
    if (target === undefined) at = next;
    else if (isAbsolute(target)) at = "/";
    rest = [...(target?.split("/") ?? []), ...after];
  }
  return [...way, at];
}
