/** Why `text` is no path rule, in words that say what is expected; undefined when it is one. */
export function pathProblem(text: string): string | undefined {
  if (text === "") return "is empty; name a path below the workspace, such as `infra/`";
  if (text.includes("\0") || text.length > 4096) return "is no path";
  if (text.startsWith("!")) return "begins with `!`; there is no negation, list what is meant";
  if (text.startsWith("/")) return "is absolute; paths are relative to the workspace";
  if (text.startsWith("~")) return "begins with `~`; paths are relative to the workspace";
  if (text.split("/").includes("..")) return "leaves the workspace by `..`";
  if ((text.match(/[*?]/g)?.length ?? 0) > 16) return "has more than 16 wildcards";
  return undefined;
}

/** A path rule without what means nothing: `./infra//` is `infra`, `./` is `.`. */
export function normalPath(text: string): string {
  const parts = text.split("/").filter((part) => part !== "" && part !== ".");
  return parts.length === 0 ? "." : parts.join("/");
}

export function isGlob(path: string): boolean {
  return /[*?]/.test(path);
}

/** Whether `path` is `folder` or below it; both normal, `.` is the workspace itself. */
export function isWithin(path: string, folder: string): boolean {
  return folder === "." || path === folder || path.startsWith(`${folder}/`);
}

/** Whether a rule speaks of a path: it matches the path itself or a folder above it. Never looks at a disk. */
export function matchesPath(rule: string, path: string): boolean {
  if (rule === ".") return true;
  return matchesParts(rule.split("/"), path.split("/"));
}

function matchesParts(rule: readonly string[], path: readonly string[]): boolean {
  const [first, ...rest] = rule;
  if (first === undefined) return true;
  if (first === "**") return path.some((_, index) => matchesParts(rest, path.slice(index)));
  const [name, ...below] = path;
  return name !== undefined && matchesName(first, name) && matchesParts(rest, below);
}

/** `*` and `?` within one name; goes back to the last `*` only, so that no pattern takes long. */
function matchesName(pattern: string, name: string): boolean {
  let at = 0;
  let star = -1;
  let mark = 0;
  for (let index = 0; index < name.length; ) {
    if (pattern[at] === "*") {
      star = at++;
      mark = index;
    } else if (pattern[at] === "?" || pattern[at] === name[index]) {
      at++;
      index++;
    } else if (star >= 0) {
      at = star + 1;
      index = ++mark;
    } else return false;
  }
  return pattern.slice(at).replaceAll("*", "") === "";
}
