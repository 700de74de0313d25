/** Braces can multiply; what expands to more is taken literally. */
const MAX_ALTERNATIVES = 256;

/** True of a path relative to the folder the pattern is about, without a leading `./`. */
export type PathMatcher = (path: string) => boolean;

/**
 * A glob as git and ripgrep read one: without `/` it is about the file's name at any depth, with one about the whole
 * path; `**` is any number of folders, a final `/` all below it, `{a,b}` either. A path that is the pattern itself
 * matches too: `app/[id]/page.tsx` is a file as often as a class. Linear in pattern times path, so no pattern is slow.
 */
export function globMatcher(pattern: string): PathMatcher {
  const plain = pattern.replace(/^(\.?\/)+/, "");
  const anchored = plain.includes("/") || plain !== pattern;
  const alternatives = expandBraces(plain.endsWith("/") ? `${plain}**` : plain).map((one) => matcherOf(one, anchored));
  return (path) => path === plain || alternatives.some((matches) => matches(path));
}

function matcherOf(pattern: string, anchored: boolean): PathMatcher {
  const segments = pattern.split("/").map((text) => (text === "**" ? "**" : nameMatcher(text)));
  const [only] = segments;
  if (anchored || segments.length > 1 || only === undefined || only === "**") {
    return (path) => matchSegments(segments, path.split("/"));
  }
  return (path) => only(path.slice(path.lastIndexOf("/") + 1));
}

type Segment = "**" | ((name: string) => boolean);

function matchSegments(pattern: readonly Segment[], path: readonly string[]): boolean {
  // What stands before the first `**` has one place only, and fails most paths at once.
  const free = pattern.indexOf("**");
  const fixed = free === -1 ? pattern.length : free;
  if (free === -1 ? path.length !== fixed : path.length < fixed) return false;
  for (let at = 0; at < fixed; at++) if (!matchesAt(pattern[at], path[at])) return false;
  return free === -1 || matchFree(pattern.slice(free), path.slice(fixed));
}

function matchesAt(segment: Segment | undefined, name: string | undefined): boolean {
  return typeof segment === "function" && segment(name ?? "");
}

function matchFree(pattern: readonly Segment[], path: readonly string[]): boolean {
  const last = pattern.at(-1);
  if (pattern.length === 1) return path.length > 0;
  if (pattern.length === 2 && typeof last === "function") return matchesAt(last, path.at(-1)) && path.length > 0;
  // Row by row of the table "does this much of the pattern match this much of the path".
  let row = [true, ...path.map(() => false)];
  for (const [at, segment] of pattern.entries()) {
    const next = row.map(() => false);
    // A final `**` is what is inside: `src/**` is not `src` itself.
    if (segment === "**" && at < pattern.length - 1) next[0] = row[0] ?? false;
    for (let index = 1; index <= path.length; index++) {
      const before = row[index - 1] ?? false;
      if (segment !== "**") next[index] = before && segment(path[index - 1] ?? "");
      else next[index] = before || (next[index - 1] ?? false) || (at < pattern.length - 1 && (row[index] ?? false));
    }
    row = next;
  }
  return row[path.length] ?? false;
}

/** A name without wildcards, or with one `*` alone in front of it, is by far the most frequent. */
function nameMatcher(pattern: string): (name: string) => boolean {
  if (!/[*?[\\]/.test(pattern)) return (name) => name === pattern;
  const rest = pattern.slice(1);
  if (pattern.startsWith("*") && !/[*?[\\]/.test(rest)) return (name) => name.endsWith(rest);
  const tokens = tokensOf(pattern);
  return (name) => matchName(tokens, name);
}

/** Wildcards in one name: on a mismatch the last `*` takes one more character. */
function matchName(tokens: readonly Token[], name: string): boolean {
  const characters = [...name];
  let token = 0;
  let at = 0;
  let star = -1;
  let starAt = 0;
  while (at < characters.length) {
    const current = tokens[token];
    if (current === "*") {
      star = token++;
      starAt = at;
    } else if (typeof current === "function" && current(characters[at] ?? "")) {
      token++;
      at++;
    } else if (star >= 0) {
      token = star + 1;
      at = ++starAt;
    } else return false;
  }
  while (tokens[token] === "*") token++;
  return token === tokens.length;
}

type Token = "*" | ((character: string) => boolean);

function tokensOf(pattern: string): Token[] {
  return [...pattern.matchAll(/\\(?<escaped>.)|(?<class>\[[!^]?\]?[^\]]*\])|(?<one>.)/gsu)].map(tokenOf);
}

function tokenOf({ groups }: RegExpMatchArray): Token {
  const wanted = groups?.["escaped"] ?? groups?.["one"];
  if (groups?.["class"] !== undefined) return classOf(groups["class"].slice(1, -1));
  if (groups?.["escaped"] === undefined && wanted === "*") return "*";
  if (groups?.["escaped"] === undefined && wanted === "?") return () => true;
  return (character) => character === wanted;
}

function classOf(body: string): (character: string) => boolean {
  const negated = /^[!^]/.test(body);
  const members = [...(negated ? body.slice(1) : body).matchAll(/(.)-(.)|(.)/gsu)];
  return (character) => {
    const inside = members.some(([, from, to, one]) =>
      one === undefined ? isBetween(character, from ?? "", to ?? "") : one === character,
    );
    return inside !== negated;
  };
}

function isBetween(character: string, from: string, to: string): boolean {
  const code = character.codePointAt(0) ?? 0;
  return code >= (from.codePointAt(0) ?? 0) && code <= (to.codePointAt(0) ?? 0);
}

/** Every alternative of the innermost braces first, until none is left. */
function expandBraces(pattern: string): string[] {
  let patterns = [pattern];
  for (;;) {
    const next = patterns.flatMap(expandOne);
    if (next.length === patterns.length) return patterns;
    if (next.length > MAX_ALTERNATIVES) return [pattern];
    patterns = next;
  }
}

function expandOne(pattern: string): string[] {
  const braces = /(?<!\\)\{([^{}]*,[^{}]*)\}/.exec(pattern);
  if (braces === null) return [pattern];
  const [whole, list = ""] = braces;
  const after = pattern.slice(braces.index + whole.length);
  return list.split(",").map((one) => pattern.slice(0, braces.index) + one + after);
}
