/** What a package manager says of itself. */
export type Answer = {
  /** Of its sources, as it has them; those of other kinds than http and https are left out later. */
  urls: string[];
  /** Files it has that from, as far as it tells. */
  files?: string[];
  /** What a person should know of them, in words that go after the name of the package manager. */
  notes?: string[];
};

/** Why a package manager says nothing, in words that go after its name. */
export type Silence = { problem: string };

/** Addresses in a text that has other things, too. */
export function urlsIn(text: string): string[] {
  return text.match(/https?:\/\/[^\s'"\\,|]+/g) ?? [];
}
