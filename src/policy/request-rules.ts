/** Why `text` is no method of a rule, in words that say what is expected; undefined when it is one. */
export function methodProblem(text: string): string | undefined {
  if (text === "CONNECT") return "is for proxies and never let through; expected such as `GET`";
  if (/^[A-Z][A-Z\d-]{0,31}$/.test(text)) return undefined;
  const upper = text.toUpperCase();
  const close = /^[A-Z][A-Z\d-]{0,31}$/.test(upper) ? `\`${upper}\`, in capitals` : "such as `GET`";
  return `is no method; expected ${close}`;
}

/**
 * Why `text` is no pattern of request paths: `*` within a segment, `**` for any number of them. What a server may read
 * in two ways has no place in one, and what is not written plainly in a request is matched by `*`.
 */
export function requestPathProblem(text: string): string | undefined {
  if (!text.startsWith("/")) return "does not begin with `/`; expected a path, such as `/public/**`";
  if (text.length > 1024) return "is longer than 1024 characters";
  if (text.includes("?")) return "has a `?`; a query is never compared, name the path alone";
  if (text.includes("#")) return "has a `#`, which no request has; name the path alone";
  if (text.includes("%")) return "has a `%`; write `*` for a character that is escaped in requests";
  const character = /[^\w\-.~!$&'()*+,=:@/]/u.exec(text)?.[0];
  if (character !== undefined) {
    return "has a character that servers read in more than one way; expected letters, digits and `-._~!$&'()*+,=:@`";
  }
  const segments = text.slice(1).split("/");
  if (segments.slice(0, -1).includes("")) return "has `//`, which servers read in more than one way; write one `/`";
  if (segments.some((segment) => segment === "." || segment === "..")) {
    return "has a segment `.` or `..`; name the path that is meant";
  }
  if (segments.some((segment) => segment !== "**" && segment.includes("**"))) {
    return "has `**` within a segment; write `*` there, or `/**/`";
  }
  return (text.match(/\*/g)?.length ?? 0) > 16 ? "has more than 16 wildcards" : undefined;
}
