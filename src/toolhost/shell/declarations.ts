/** One variable or alias in the words of the shell that printed it. Bytes of it stand as latin1 characters. */
export type Declaration = { name: string; attributes: string; text: string };

const DECLARE = /^declare (-\S+) ([A-Za-z_]\w*)(?:=|$)/;
const EXPORT = /^export ([A-Za-z_]\w*)(?:=|$)/;
const ALIAS = /^alias (?:-- )?([^=]+)=/;

/** What `declare -p` (bash), `export -p` (sh) or `alias -p` printed; lines that are none of these are left out. */
export function parseDeclarations(printed: string): Declaration[] {
  return splitItems(printed).flatMap((text): Declaration[] => {
    const declared = DECLARE.exec(text);
    if (declared) return [{ name: declared[2] ?? "", attributes: declared[1]?.slice(1) ?? "", text }];
    const exported = EXPORT.exec(text);
    if (exported) return [{ name: exported[1] ?? "", attributes: "x", text }];
    const alias = ALIAS.exec(text);
    return alias ? [{ name: alias[1] ?? "", attributes: "", text }] : [];
  });
}

const SPECIAL = /["'\\\n]/g;

/** Splits at line ends that are not inside quotes: a value may hold anything, also what looks like the next item. */
function splitItems(printed: string): string[] {
  const items: string[] = [];
  let begin = 0;
  SPECIAL.lastIndex = 0;
  for (let match = SPECIAL.exec(printed); match; match = SPECIAL.exec(printed)) {
    const at = match.index;
    if (match[0] === "\n") {
      items.push(printed.slice(begin, at));
      begin = at + 1;
    } else if (match[0] === "\\") SPECIAL.lastIndex = at + 2;
    else if (match[0] === "'" && printed[at - 1] !== "$") SPECIAL.lastIndex = after(printed, "'", at + 1);
    else SPECIAL.lastIndex = closingQuote(printed, match[0], at + 1);
  }
  if (begin < printed.length) items.push(printed.slice(begin));
  return items;
}

/** Behind the quote that ends `"…"` or `$'…'`, where a backslash takes the next character along. */
function closingQuote(printed: string, quote: string, from: number): number {
  const stop = quote === "'" ? /['\\]/g : /["\\]/g;
  stop.lastIndex = from;
  for (let match = stop.exec(printed); match; match = stop.exec(printed)) {
    if (match[0] === quote) return match.index + 1;
    stop.lastIndex = match.index + 2;
  }
  return printed.length;
}

function after(printed: string, quote: string, from: number): number {
  const end = printed.indexOf(quote, from);
  return end === -1 ? printed.length : end + 1;
}
