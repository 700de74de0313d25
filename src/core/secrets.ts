import { createHash } from "node:crypto";
import { inspect } from "node:util";
import { wellFormed } from "./truncate.ts";

const MASK = "***";
/** Shorter values are words that occur by chance: masking them would garble text and protect nothing. */
const SHORTEST_MASKED = 8;

const NAMES_OF_SECRETS =
  /(_|^)(API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|TOKEN|PAT|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)(_|$)/i;

/** A credential that prints, serialises and inspects as `***`. Only who sends it calls {@link Secret.reveal}: `src/model`, and `src/egress` for a proxy. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return MASK;
  }

  toJSON(): string {
    return MASK;
  }

  [Symbol.toPrimitive](): string {
    return MASK;
  }

  [inspect.custom](): string {
    return MASK;
  }
}

/** The credentials of this process by the name of their variable. */
export class Secrets {
  readonly #byName: ReadonlyMap<string, Secret>;
  readonly #forms: readonly string[];
  readonly #pattern: RegExp | undefined;

  constructor(values: Readonly<Record<string, string>> = {}) {
    this.#byName = new Map(Object.entries(values).map(([name, value]) => [name, new Secret(value)]));
    this.#forms = allForms(Object.values(values));
    this.#pattern = patternOf(this.#forms);
  }

  get(name: string): Secret | undefined {
    return this.#byName.get(name);
  }

  /**
   * `text` with every occurrence of a secret of at least 8 characters replaced by `***`, also where it stands
   * URL-encoded, JSON-escaped, or inside base64.
   */
  mask(text: string): string {
    return this.#pattern ? text.replace(this.#pattern, MASK) : text;
  }

  /** How many characters at the end of `text` could be the beginning of a secret that goes on in the next piece. */
  beginningAtEnd(text: string): number {
    return Math.max(0, ...this.#forms.map((form) => overlap(text, form)));
  }

  /** SHA-256 of each value in hex, to look for a secret elsewhere without holding it. */
  hashes(): string[] {
    return [...this.#byName.values()].map((secret) => createHash("sha256").update(secret.reveal()).digest("hex"));
  }
}

/** Moves every variable of `env` whose name looks like a credential into {@link Secrets}: it is deleted from `env`. */
export function takeSecrets(env: Record<string, string | undefined>): Secrets {
  const values: Record<string, string> = {};
  for (const name of Object.keys(env)) {
    if (!NAMES_OF_SECRETS.test(name)) continue;
    const value = env[name]?.trim();
    delete env[name];
    if (value) values[name] = value;
  }
  return new Secrets(values);
}

/** Longest first: of two secrets that begin alike, the rest of the longer one must not stay behind. */
function allForms(values: string[]): string[] {
  const forms = new Set(values.filter((value) => value.length >= SHORTEST_MASKED).flatMap(formsOf));
  return [...forms].toSorted((a, b) => b.length - a.length);
}

function patternOf(forms: readonly string[]): RegExp | undefined {
  return forms.length === 0 ? undefined : new RegExp(forms.map(escapeForPattern).join("|"), "g");
}

/** The length of the longest end of `text` that is a beginning of `form`, and not all of it. */
function overlap(text: string, form: string): number {
  for (let length = Math.min(text.length, form.length - 1); length > 0; length--) {
    if (form.startsWith(text.slice(-length))) return length;
  }
  return 0;
}

function formsOf(value: string): string[] {
  const json = JSON.stringify(value).slice(1, -1);
  return [value, encodeURIComponent(wellFormed(value)), json, ...base64Forms(value)];
}

/** Base64 depends on where the value begins: of each of the three alignments, the characters that hold it alone. */
function base64Forms(value: string): string[] {
  const bytes = Buffer.from(value, "utf8");
  return [0, 1, 2].flatMap((offset) => {
    const bits = (offset + bytes.length) * 8;
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
    const core = encoded.slice(Math.ceil((offset * 8) / 6), Math.floor(bits / 6));
    return [core, core.replaceAll("+", "-").replaceAll("/", "_")];
  });
}

function escapeForPattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
