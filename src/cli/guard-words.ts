import type { JsonObject } from "../core/json.ts";
import type { Quarantined } from "../core/quarantine.ts";
import { clip } from "../core/truncate.ts";
import { visibleLine } from "../core/visible.ts";
import { countWords, sizeWords } from "./words.ts";

/** What was kept, why, and how to look at it: one line. */
export function quarantineWords({ path, rule, kind, entries, bytes, cut }: Quarantined): string {
  const shown = visibleLine(path);
  const size = `${countWords(entries, "entry", "entries")}, ${sizeWords(bytes)}`;
  const left = cut.length > 0 ? `; not kept: ${cut.map(visibleLine).join(", ")}` : "";
  return `${KIND_WORDS[kind](shown)} (${size}; rule ${visibleLine(rule)})${left}`;
}

const KIND_WORDS: Record<Quarantined["kind"], (path: string) => string> = {
  appeared: (path) => `${path} appeared and was moved out of the workspace`,
  git: (path) => `${path} was made by a command and moved out of the workspace at the end`,
  before: (path) => `${path} was replaced on the host; kept as it was at the start`,
  after: (path) => `${path} was replaced on the host; kept as it was found`,
};

/** What happened to mounts, for people. */
export function mountWords(event: "remounted" | "links_protected", detail: JsonObject): string[] {
  const list = (key: string): string => clip(wordsIn(detail, key).join(", "), 1000);
  if (event === "links_protected") {
    const folders = list("folders");
    return [
      ...(folders === ""
        ? []
        : [
            `read-only, as files there are hard links to files outside: ${folders} (\`workspace.hardlinks: allow\` opens them)`,
          ]),
      ...(detail["complete"] === false
        ? ["the workspace has too many files to look at all of them for hard links to files outside"]
        : []),
    ];
  }
  return [
    `replaced on the host while it was protected or hidden: ${list("paths")}; for at most 0.2 s commands could have read and written it, so look at it. The sandbox was started again`,
    ...wordsIn(detail, "notes"),
  ];
}

function wordsIn(detail: JsonObject, key: string): string[] {
  const value = detail[key];
  return Array.isArray(value) ? value.map((item) => visibleLine(String(item))) : [];
}
