import type Docker from "dockerode";

type Release = readonly [major: number, minor: number, patch: number];

/** Ways out of a container, and the releases of runc that close them: the first of each line, the newest line last. */
const FIXES: readonly { names: string; since: readonly Release[] }[] = [
  { names: "CVE-2024-21626", since: [[1, 1, 12]] },
  {
    names: "CVE-2025-31133, CVE-2025-52565 and CVE-2025-52881",
    since: [
      [1, 2, 8],
      [1, 3, 3],
    ],
  },
];

/** The version of the engine's runc as the engine names it; undefined where it says nothing, or has another runtime. */
export async function runcVersion(docker: Docker): Promise<string | undefined> {
  const answer = (await docker.version()) as { Components?: { Name?: unknown; Version?: unknown }[] };
  const found = answer.Components?.find(({ Name }) => Name === "runc")?.Version;
  return typeof found === "string" ? found : undefined;
}

/** What a runc of this version is missing, in words; undefined for nothing known. Distributions mend under old numbers. */
export function runcWarning(version: string): string | undefined {
  const numbers = /^v?(\d+)\.(\d+)\.(\d+)/.exec(version)?.slice(1).map(Number);
  if (!numbers) return undefined;
  const missing = FIXES.filter(({ since }) => !isFixed(numbers, since));
  if (missing.length === 0) return undefined;
  return `runc ${version} may lack the fixes of ${missing.map(({ names }) => names).join(", ")}, unless its distribution has put them in`;
}

/** A line without a release here is open if it is older than the last of them, and made after it if newer. */
function isFixed([major = 0, minor = 0, patch = 0]: number[], since: readonly Release[]): boolean {
  const sameLine = since.find(([first, line]) => first === major && line === minor);
  if (sameLine) return patch >= sameLine[2];
  const [first, line] = since.at(-1) ?? [0, 0];
  return major > first || (major === first && minor > line);
}
