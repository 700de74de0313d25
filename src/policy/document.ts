import {
  type Document,
  type ErrorCode,
  isAlias,
  isMap,
  isNode,
  isScalar,
  LineCounter,
  parseDocument,
  visit,
} from "yaml";
import { messageOf } from "../core/errors.ts";
import { clip } from "../core/truncate.ts";
import { visibleLine } from "../core/visible.ts";

export type Path = readonly PropertyKey[];

/** What a text is not allowed to be, and the line it is so at. */
export type Fault = { line: number | undefined; problem: string };

/** The one YAML document of a text as plain data, which knows the lines its values stand at. */
export type PlacedValue = {
  value: unknown;
  /** The line of the value at `path`, or of what is nearest above it. */
  lineOf: (path: Path) => number;
  /** The line of a key of the map at `path`. */
  lineOfKey: (path: Path, key: string) => number;
};

/**
 * Plain data from YAML 1.2 without what makes a file mean more than it shows: aliases, merge keys, directives, tags
 * nobody knows, several documents, a key twice.
 */
export function parsePlaced(text: string): PlacedValue | Fault {
  const counter = new LineCounter();
  try {
    const document = parseDocument(text, { lineCounter: counter, prettyErrors: false, version: "1.2" });
    const line = (offset: number): number => counter.linePos(offset).line || 1;
    const fault = document.errors[0] ?? document.warnings[0];
    if (fault) return { line: line(fault.pos[0]), problem: FAULTS[fault.code] ?? firstLine(fault.message) };
    const trick = trickIn(document);
    if (trick) return { line: line(trick.offset), problem: trick.problem };
    return {
      value: document.toJS({ maxAliasCount: 0 }) as unknown,
      lineOf: (path) => line(offsetOf(document, path)),
      lineOfKey: (path, key) => line(offsetOfKey(document, path, key)),
    };
  } catch (thrown) {
    // Nesting deeper than the stack ends here, too.
    return { line: undefined, problem: `it cannot be parsed (${firstLine(messageOf(thrown))})` };
  }
}

const FAULTS: Partial<Record<ErrorCode, string>> = {
  MULTIPLE_DOCS: "here a second document begins; expected one",
  DUPLICATE_KEY: "this key is there twice; expected each once",
};

function trickIn(document: Document.Parsed): { offset: number; problem: string } | undefined {
  if (document.directives.yaml.explicit === true) {
    return { offset: 0, problem: "a `%YAML` directive is not allowed; expected plain YAML 1.2" };
  }
  let found: { offset: number; problem: string } | undefined;
  visit(document, {
    Node: (_, node) => {
      if (!isAlias(node)) return undefined;
      found = {
        offset: node.range?.[0] ?? 0,
        problem: `the alias \`*${visibleLine(clip(node.source, 60))}\` is not allowed; write the value itself`,
      };
      return visit.BREAK;
    },
    Pair: (_, { key }) => {
      const problem = isScalar(key) ? KEYS[String(key.value)] : "a key is no text; expected the name of a key";
      if (problem === undefined) return undefined;
      found = { offset: isNode(key) ? (key.range?.[0] ?? 0) : 0, problem };
      return visit.BREAK;
    },
  });
  return found;
}

/** Keys that would not be what they look like. */
const KEYS: Partial<Record<string, string>> = Object.assign(Object.create(null), {
  "<<": "a merge key `<<` is not allowed; write the values themselves",
  ["__proto__"]: "`__proto__` is no key of a policy",
});

function offsetOf(document: Document.Parsed, path: Path): number {
  for (let length = path.length; length > 0; length--) {
    const node = document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return document.contents?.range?.[0] ?? 0;
}

function offsetOfKey(document: Document.Parsed, path: Path, key: string): number {
  const map = path.length === 0 ? document.contents : document.getIn(path, true);
  const pair = isMap(map) ? map.items.find(({ key: node }) => isScalar(node) && String(node.value) === key) : undefined;
  return pair && isNode(pair.key) && pair.key.range ? pair.key.range[0] : offsetOf(document, path);
}

function firstLine(text: string): string {
  return visibleLine(clip(text.split("\n")[0] ?? "", 300));
}
