const UNITS = ["B", "KB", "MB", "GB", "TB"] as const;

/** Bytes of a size such as `4GB` or `1.5MB`, units powers of 1024; undefined for anything else, a bare number too. */
export function parseSize(text: string): number | undefined {
  const [, digits = "", unit = ""] = /^(\d{1,9}(?:\.\d{1,3})?)(B|KB|MB|GB|TB)$/.exec(text) ?? [];
  if (digits === "") return undefined;
  const power = UNITS.indexOf(unit as (typeof UNITS)[number]);
  return Math.round(Number(digits) * 1024 ** power);
}

/** The shortest exact size text of a number of bytes. */
export function sizeText(bytes: number): string {
  let power = 0;
  while (power < UNITS.length - 1 && bytes >= 1024 ** (power + 1) && bytes % 1024 ** (power + 1) === 0) power++;
  return `${bytes / 1024 ** power}${UNITS[power]}`;
}
