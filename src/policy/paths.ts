/** Why `text` is no path rule, in words that say what is expected; undefined when it is one. */
export function pathProblem(text: string): string | undefined {
  if (text === "") return "is empty; name a path below the workspace, such as `infra/`";
  if (text.includes("\0") || text.length > 4096) return "is no path";
  if (text.startsWith("!")) return "begins with `!`; there is no negation, list what is meant";
  if (text.startsWith("/")) return "is absolute; paths are relative to the workspace";
  if (text.startsWith("~")) return "begins with `~`; paths are relative to the workspace";
  if (/\{[^}]*,/.test(text)) return "has `{…,…}`, which is not expanded; list each pattern by itself";
  if (text.split("/").includes("..")) return "leaves the workspace by `..`";
  if ((text.match(/[*?]/g)?.length ?? 0) > 16) return "has more than 16 wildcards";
  return undefined;
}

/** A path rule without what means nothing: `./infra//` is `infra`, `./` is `.`. */
export function normalPath(text: string): string {
  const parts = text.split("/").filter((part) => part !== "" && part !== ".");
  return parts.length === 0 ? "." : parts.join("/");
}
