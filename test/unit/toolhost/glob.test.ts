import { expect, test } from "vitest";
import { globMatcher } from "../../../src/toolhost/search/glob.ts";

test.each<[string, string[], string[]]>([
  ["*.ts", ["a.ts", "x/y/a.ts", ".ts"], ["a.tsx", "a.ts/b"]],
  ["src/*.ts", ["src/a.ts"], ["src/x/a.ts", "lib/src/a.ts", "a.ts"]],
  ["**/*.ts", ["a.ts", "x/y/a.ts"], ["a.js"]],
  ["src/**", ["src/a", "src/a/b"], ["src", "lib/src/a"]],
  ["src/", ["src/a", "src/a/b"], ["src"]],
  ["src/**/b.ts", ["src/b.ts", "src/x/y/b.ts"], ["b.ts"]],
  ["**", ["a", "a/b"], []],
  ["**/src/**", ["src/a", "x/src/src"], ["src", "a"]],
  ["a*b*c", ["abc", "axxbxxc"], ["ab", "abcd"]],
  ["a?c", ["abc", "a🚀c"], ["ac", "abbc", "a/c"]],
  ["[a-c]1", ["a1", "c1", "[a-c]1"], ["d1"]],
  ["[!a-c]1", ["d1"], ["a1"]],
  ["[]]x", ["]x"], ["x"]],
  ["[open", ["[open"], ["o"]],
  ["\\*", ["*"], ["a"]],
  ["{a,b}.{x,y}", ["a.x", "b.y"], ["c.x", "a.z"]],
  ["{a,{b,c}}d", ["ad", "bd", "cd"], ["d"]],
  ["{src,test}/**/*.ts", ["src/a.ts", "test/x/a.ts"], ["lib/a.ts"]],
  ["{a}", ["{a}"], ["a"]],
  ["./a", ["a"], ["x/a"]],
  ["/a", ["a"], ["x/a"]],
  ["a\nb", ["a\nb"], ["a"]],
  ["app/[id]/page.tsx", ["app/[id]/page.tsx", "app/i/page.tsx"], ["app/id/page.tsx"]],
])("%j", (pattern, yes, no) => {
  const matches = globMatcher(pattern);
  expect([yes.filter((path) => !matches(path)), no.filter(matches)]).toEqual([[], []]);
});

test.each([
  ["stars", `${"*a".repeat(50)}*b`],
  ["folders", `${"**/".repeat(50)}b`],
  ["braces", "{a,b}".repeat(40)],
  ["nested braces", `${"{a,".repeat(5000)}${"}".repeat(5000)}`],
])("%s of a hostile pattern are not slow", (_, pattern) => {
  const started = Date.now();
  globMatcher(pattern)(`${"a/".repeat(30)}${"a".repeat(250)}`);
  expect(Date.now() - started).toBeLessThan(15_000);
});
