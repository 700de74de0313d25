import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";

/** One repository of Debian packages that the host uses. */
export type AptSource = { uri: string; suite: string; components: string[] };

/**
 * The host's own mirrors for Debian `suite`, empty where the host is no Debian or has none. No address of a mirror
 * stands in this program: either the host knows one, or the image and debootstrap use what they come with.
 */
export async function readAptSources(suite: string): Promise<AptSource[]> {
  const release = await readFile("/etc/os-release", "utf8").catch(() => "");
  if (!/^ID=debian$/m.test(release)) return [];
  const codename = release.match(/^VERSION_CODENAME=(\w+)$/m)?.[1] ?? suite;
  const folder = "/etc/apt/sources.list.d";
  const names = (await readdir(folder).catch(() => [])).sort().map((name) => join(folder, name));
  const files = ["/etc/apt/sources.list", ...names];
  const texts = await Promise.all(
    files.map(async (file) => [file, await readFile(file, "utf8").catch(() => "")] as const),
  );
  const sources = texts.flatMap(([file, text]) => (file.endsWith(".sources") ? parseStanzas(text) : parseLines(text)));
  return forSuite(sources, codename, suite);
}

/** The sources of the host's own release, for another release of the same distribution. */
export function forSuite(sources: AptSource[], codename: string, suite: string): AptSource[] {
  return sources
    .filter((source) => source.suite.split("-")[0] === codename && source.components.includes("main"))
    .map((source) => ({ ...source, suite: source.suite.replace(codename, suite), components: ["main"] }));
}

/** The one-line format of sources.list(5). */
export function parseLines(text: string): AptSource[] {
  return text.split("\n").flatMap((line) => {
    const match = line.match(/^\s*deb\s+(?:\[[^\]]*\]\s+)?(\S+)\s+(\S+)\s+([^#]+)/);
    return match ? [{ uri: match[1] ?? "", suite: match[2] ?? "", components: words(match[3]) }] : [];
  });
}

/** The deb822 format of sources.list(5). */
export function parseStanzas(text: string): AptSource[] {
  const withoutComments = text.replace(/^#.*\n?/gm, "");
  return withoutComments.split(/\n\s*\n/).flatMap((stanza) => {
    const field = (name: string) => words(stanza.match(new RegExp(`^${name}:(.*(?:\\n[ \\t].*)*)`, "im"))?.[1]);
    if (!field("Types").includes("deb") || field("Enabled")[0] === "no") return [];
    const components = field("Components");
    return field("URIs").flatMap((uri) => field("Suites").map((suite) => ({ uri, suite, components })));
  });
}

function words(text: string | undefined): string[] {
  return text?.trim().split(/\s+/).filter(Boolean) ?? [];
}

/** Settings that decide how packages are reached; hooks and the like stay on the host. */
const TRANSPORT = /^Acquire::(?:https?|Retries|ForceIPv[46]|Check-Date|Check-Valid-Until|Max-FutureTime)\b/;

async function readAptSettings(): Promise<string> {
  const { stdout, failed } = await execa("apt-config", ["dump"], { reject: false, cwd: "/" });
  return failed
    ? ""
    : stdout
        .split("\n")
        .filter((line) => TRANSPORT.test(line))
        .join("\n");
}

/** Fills `host/` of a build context: apt's mirrors and settings, and local certificates. */
export async function writeHostFolder(folder: string, suite: string, certificates: Map<string, string>): Promise<void> {
  await mkdir(join(folder, "apt"), { recursive: true });
  await mkdir(join(folder, "ca"), { recursive: true });
  const sources = await readAptSources(suite);
  const lines = sources.map(({ uri, suite: name, components }) => `deb ${uri} ${name} ${components.join(" ")}\n`);
  await writeFile(join(folder, "apt/sources.list"), lines.join(""));
  if (sources.length > 0) await writeFile(join(folder, "apt/apt.conf"), await readAptSettings());
  for (const [name, text] of certificates) await writeFile(join(folder, "ca", name), text);
}

const CHILD_VARIABLES =
  /^(?:PATH|HOME|LANG|TMPDIR|TERM|https?_proxy|no_proxy|all_proxy|SSL_CERT_(?:FILE|DIR)|NODE_EXTRA_CA_CERTS|npm_config_.*)$/i;

/** What a child of a build may see: enough to reach packages, and no credential of a model. */
export function childEnv(env: NodeJS.ProcessEnv): Record<string, string> {
  const kept = Object.entries(env).filter(([name, value]) => value !== undefined && CHILD_VARIABLES.test(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, value ?? ""]));
}
