/*
 * Rules that name paths of a workspace: relative, without `.`, `..` and double slashes, `.` for the workspace itself.
 * `*` and `?` stand for something within one name, `**` for any number of folders. Never looks at a disk.
 */

export function isGlob(path: string): boolean {
  return /[*?]/.test(path);
}

/** Whether `path` is `folder` or below it. */
export function isWithin(path: string, folder: string): boolean {
  return folder === "." || path === folder || path.startsWith(`${folder}/`);
}

/** Whether a rule speaks of a path: it matches the path itself or a folder above it. */
export function matchesPath(rule: string, path: string): boolean {
  if (rule === ".") return true;
  let matcher: PathMatcher | undefined = PathMatcher.of(rule);
  for (const name of path.split("/")) {
    matcher = matcher.enter(name);
    if (!matcher || matcher.isMatch) return matcher !== undefined;
  }
  return false;
}

/** A rule after some names of a path: what it still waits for. Steps are bounded by the parts of the rule. */
export class PathMatcher {
  readonly #parts: readonly string[];
  /** Parts of the rule that may come next; its length stands for a match. */
  readonly #at: ReadonlySet<number>;

  private constructor(parts: readonly string[], at: ReadonlySet<number>) {
    this.#parts = parts;
    this.#at = at;
  }

  static of(rule: string): PathMatcher {
    const parts = rule.split("/").filter((part, index, all) => part !== "**" || all[index - 1] !== "**");
    return new PathMatcher(parts, new Set([0]));
  }

  /** Whether the names so far are a path that the rule means. */
  get isMatch(): boolean {
    return this.#at.has(this.#parts.length);
  }

  /** The matcher for what is in the folder `name`, or undefined where nothing there can match. */
  enter(name: string): PathMatcher | undefined {
    const next = new Set<number>();
    for (const at of this.#at) for (const reached of this.#step(at, name)) next.add(reached);
    return next.size === 0 ? undefined : new PathMatcher(this.#parts, next);
  }

  #step(at: number, name: string): number[] {
    const part = this.#parts[at];
    if (part === undefined) return [];
    if (part !== "**") return matchesName(part, name) ? [at + 1] : [];
    const after = this.#parts[at + 1];
    if (after === undefined) return [at + 1];
    return matchesName(after, name) ? [at, at + 2] : [at];
  }
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
