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
  const alternatives = expandBraces(plain.endsWith("/") ? `${plain}**` : plain).map((one) => one.split("/"));
  return (path) => {
    if (path === plain) return true;
    const segments = path.split("/");
    const name = segments.slice(-1);
    return alternatives.some((one) => matchSegments(one, anchored || one.length > 1 ? segments : name));
  };
}

function matchSegments(pattern: readonly string[], path: readonly string[]): boolean {
  // Row by row of the table "does this much of the pattern match this much of the path".
  let row = [true, ...path.map(() => false)];
  for (const [at, segment] of pattern.entries()) {
    const next = row.map(() => false);
    // A final `**` is what is inside: `src/**` is not `src` itself.
    if (segment === "**" && at < pattern.length - 1) next[0] = row[0] ?? false;
    for (let index = 1; index <= path.length; index++) {
      const before = row[index - 1] ?? false;
      if (segment !== "**") next[index] = before && matchName(segment, path[index - 1] ?? "");
      else next[index] = before || (next[index - 1] ?? false) || (at < pattern.length - 1 && (row[index] ?? false));
    }
    row = next;
  }
  return row[path.length] ?? false;
}

/** Wildcards in one name: on a mismatch the last `*` takes one more character. */
function matchName(pattern: string, name: string): boolean {
  const tokens = tokensOf(pattern);
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
const tokenCache = new Map<string, Token[]>();

function tokensOf(pattern: string): Token[] {
  const cached = tokenCache.get(pattern);
  if (cached !== undefined) return cached;
  const tokens = [...pattern.matchAll(/\\(?<escaped>.)|(?<class>\[[!^]?\]?[^\]]*\])|(?<one>.)/gsu)].map(tokenOf);
  if (tokenCache.size > 1000) tokenCache.clear();
  tokenCache.set(pattern, tokens);
  return tokens;
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
