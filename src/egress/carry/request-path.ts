import { type Named, refuseAmbiguous, shown } from "./words.ts";

export type Scheme = "http" | "https";

/** The path a request is for, without the query. @throws EgressRefusal when its target names another host. */
export function pathOf(method: string, target: string, named: Named & { scheme: Scheme }): string {
  if (target === "*" && method === "OPTIONS") return target;
  if (target.startsWith("/")) return beforeQuery(target);
  const [, scheme, authority = "", rest = ""] = /^([a-z]+):\/\/([^/?]*)(.*)$/i.exec(target) ?? [];
  if (scheme?.toLowerCase() !== named.scheme || !isOwnHost(authority, named)) {
    throw refuseAmbiguous(`a request is for \`${shown(target)}\` on a connection to \`${named.name}\``);
  }
  return beforeQuery(rest.startsWith("/") ? rest : `/${rest}`);
}

/** Whether an authority is the admitted name, with its port or none, and with or without the dot that ends a name. */
export function isOwnHost(authority: string, { name, port }: Named): boolean {
  const host = authority.toLowerCase();
  return [name, `${name}.`].some((own) => host === own || host === `${own}:${port}`);
}

function beforeQuery(target: string): string {
  const [path = ""] = target.split("?", 1);
  return path;
}

/**
 * Throws for a path that servers read in more than one way, so that a rule for paths would speak of another than the
 * server answers for. @throws EgressRefusal
 */
export function requirePlainPath(path: string): void {
  const problem = PROBLEMS.find(([pattern]) => pattern.test(path))?.[1] ?? decodedProblem(path);
  if (problem) throw refuseAmbiguous(`the path \`${shown(path)}\` ${problem}, and rules here are for paths`);
}

const PROBLEMS: readonly (readonly [RegExp, string])[] = [
  [/\/\//, "has an empty segment"],
  [/\/\.\.?(?:\/|$)/, "has a segment that is `.` or `..`"],
  [/[\\;]/, "has a `\\` or `;`"],
  [/[^\u0021-\u007e]/, "has characters outside ASCII"],
  [/%(?![\da-f]{2})/i, "has a `%` that begins nothing"],
  [/%(?:[01][\da-f]|7f)/i, "has an encoded control character"],
  [/%(?:2f|5c|2e|25|3b|3f|23)/i, "has an encoded `/`, `\\`, `.`, `%`, `;`, `?` or `#`"],
  [/%(?:2d|3\d|4[1-9a-f]|5[\daf]|6[1-9a-f]|7[\dae])/i, "has a plain character that is encoded"],
];

/** Other spellings of the same characters: overlong UTF-8, full width. */
function decodedProblem(path: string): string | undefined {
  try {
    const decoded = decodeURIComponent(path);
    if (!/[/\\.;%]/.test([...decoded].filter(isWide).join("").normalize("NFKC"))) return undefined;
  } catch {
    return "is no UTF-8";
  }
  return "has look-alikes of `/`, `\\`, `.`, `;` or `%`";
}

function isWide(char: string): boolean {
  return char > "\u007f";
}
