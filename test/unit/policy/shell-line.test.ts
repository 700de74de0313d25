import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { analyse } from "../../../src/policy/shell-line/analyse.ts";
import { HOLE, SPLIT } from "../../../src/policy/shell-line/shell-line.ts";
import { holds } from "../../support/property.ts";

const commands = (text: string) => analyse(text).commands;

describe("the commands of a shell text", () => {
  it.each<[string, string[][]]>([
    ["ls -la", [["ls", "-la"]]],
    ["cd x && make; echo done", [["cd", "x"], ["make"], ["echo", "done"]]],
    ["echo 'git push' \"; git push\" # git push", [["echo", "git push", "; git push"]]],
    ["cat <<'EOF'\n$(git push)\nEOF", [["cat"]]],
    ["A=1 B=2", []],
    ["", []],
    ["[ -f x ] && [[ -f y ]]", [["[", "-f", "x", "]"]]],
    ["/usr/bin/git push", [["git", "push"]]],
    ['rm "$x" $y *.c', [["rm", HOLE, SPLIT, `${SPLIT}.c`]]],
    ["$x", [[SPLIT]]],
    ['"$x"/git push', [["git", "push"]]],
    ["$x/git push", [[SPLIT], ["git", "push"]]],
    ["~/bin/git ~/x", [["git", `${HOLE}/x`]]],
    ["make a~ A=~/x:~ --x=~", [["make", "a~", `A=${HOLE}/x:${HOLE}`, "--x=~"]]],
    ["$'\\x{67}it' push", [[SPLIT]]],
    [
      "sudo -u me git push",
      [
        ["sudo", "-u", "me", "git", "push"],
        ["git", "push"],
      ],
    ],
    [
      "find . -exec grep {} + -exec rm {} \\;",
      [
        ["find", ".", "-exec", "grep", "{}", "+", "-exec", "rm", "{}", ";"],
        ["grep", HOLE],
        ["rm", HOLE],
      ],
    ],
    ["bash script.sh", [["bash", "script.sh"]]],
    ["bash", [["bash"], [SPLIT]]],
    ['eval "ls $x"', [["eval", `ls ${HOLE}`], [SPLIT], ["ls", HOLE]]],
    ["command -v git", [["command", "-v", "git"]]],
    [
      "sudo -s <<< 'git push'",
      [
        ["sudo", "-s"],
        ["git", "push"],
      ],
    ],
    ['sudo -u "$me" ls', [["sudo", "-u", HOLE, "ls"], ["ls"]]],
    ['nice "-$x" 5 ls', [["nice", `-${HOLE}`, "5", "ls"], [SPLIT], ["5", "ls"]]],
    [
      "flock -w 1 x git push",
      [
        ["flock", "-w", "1", "x", "git", "push"],
        ["git", "push"],
      ],
    ],
    [
      "flock x -c 'git push'",
      [
        ["flock", "x", "-c", "git push"],
        ["git", "push"],
      ],
    ],
    [
      "su me -c 'git push'",
      [
        ["su", "me", "-c", "git push"],
        ["git", "push"],
      ],
    ],
    [
      "script --command='git push' x",
      [
        ["script", "--command=git push", "x"],
        ["git", "push"],
      ],
    ],
    [
      "watch -n 5 'git push'",
      [
        ["watch", "-n", "5", "git push"],
        ["git", "push"],
      ],
    ],
    [
      "parallel -j 4 git {} ::: push",
      [["parallel", "-j", "4", "git", "{}", ":::", "push"], [SPLIT], ["git", SPLIT, SPLIT]],
    ],
    [
      "parallel ::: 'git push'",
      [
        ["parallel", ":::", "git push"],
        ["git", "push"],
      ],
    ],
    [
      "strace -f -o x git push",
      [
        ["strace", "-f", "-o", "x", "git", "push"],
        ["git", "push"],
      ],
    ],
  ])("%j", (text, expected) => {
    expect(commands(text)).toEqual(expected);
    expect(analyse(text).unparsed).toBeUndefined();
  });

  it.each([
    ["git push", ["git", "push"]],
    [" git\tpush ; # that was it", undefined],
    [" git\tpush # that was it\n\n", ["git", "push"]],
    ["/bin/git 'a b' --x=~y", ["/bin/git", "a b", "--x=~y"]],
    ["git push > x", undefined],
    ["git push <<< x", undefined],
    ["git push &", undefined],
    ["git push | cat", undefined],
    ["! git push", undefined],
    ["time git push", undefined],
    ["(git push)", undefined],
    ["A=1 git push", undefined],
    ["git push $x", undefined],
    ["git push *", undefined],
    ["git push `x`", undefined],
    ["git push $((1))", undefined],
    ["git push <(x)", undefined],
    ["f() { git push; }", undefined],
    ["sudo git push", undefined],
    ["eval git push", undefined],
    ["a\nb", undefined],
    ["a=(1)", undefined],
    ["", undefined],
  ])("%j is plain: %j", (text, plain) => {
    expect(analyse(text).plain).toEqual(plain);
  });

  it.each([
    ["a quote without an end", "echo 'x"],
    ["a parenthesis without an end", "(ls"],
    ["a keyword where none can be", "ls; done"],
    ["an operator without a command", "ls && ; ls"],
    ["a subshell that looks like arithmetic", "echo $((ls); (ls))"],
    ["nesting without end", `${"$(".repeat(100)}ls${")".repeat(100)}`],
    ["wrappers without end", `${"env ".repeat(100)}ls`],
    ["more than 64 KiB", `echo ${"x".repeat(65_536)}`],
    ["more commands than anybody writes", "a;".repeat(6_000)],
    ["a here-document without an end", "cat <<E\nx"],
    ["a here-document whose end only a shell knows", "cat <<$x\nx"],
    ["a NUL", "ls \0"],
  ])("%s is not understood, and says so", (_, text) => {
    const { plain, unparsed } = analyse(text);
    expect([plain, typeof unparsed]).toEqual([undefined, "string"]);
  });

  it("finds the others beside one that is not understood", () => {
    expect(commands("bash -c '(' && git push")).toContainEqual(["git", "push"]);
  });

  it("keeps what was found before the text was no longer understood", () => {
    expect(analyse("git push\n(")).toMatchObject({ commands: [["git", "push"]], unparsed: expect.any(String) });
  });
});

const QUOTE = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Ways to put commands into another text that runs them. */
const WRAPS: ((inner: string) => string)[] = [
  (inner) => `( ${inner}\n)`,
  (inner) => `{ ${inner}\n}`,
  (inner) => `true && { ${inner}\n} | cat`,
  (inner) => `if ${inner}\nthen :; else ls; fi`,
  (inner) => `while :; do ${inner}\ndone`,
  (inner) => `for x in a b; do\n${inner}\ndone`,
  (inner) => `case x in y) ;; (x|z) ${inner}\n;; esac`,
  (inner) => `f() {\n${inner}\n}`,
  (inner) => `echo "a $( ${inner}\n) b"`,
  (inner) => `echo \${x:-$( ${inner}\n)}`,
  (inner) => `x=$( ${inner}\n) ls`,
  (inner) => `cat <(${inner}\n) > /dev/null`,
  (inner) => `! time ( ${inner}\n) &`,
  (inner) => `eval ${QUOTE(inner)}`,
  (inner) => `bash -lc ${QUOTE(inner)} name`,
  (inner) => `sudo -u x env A=1 timeout 5 sh -c ${QUOTE(inner)}`,
  (inner) => `xargs -n 1 nice -n 5 dash -c ${QUOTE(inner)}`,
  (inner) => `find . -name '*.c' -exec sh -c ${QUOTE(inner)} {} \\;`,
  (inner) => `trap ${QUOTE(inner)} EXIT`,
  (inner) => `bash <<'END${inner.length}'\n${inner}\nEND${inner.length}\n`,
];

const known = fc.constantFrom("git push", "npm publish --tag x", "rm -rf build", "curl -O example");
const nested = fc
  .array(fc.constantFrom(...WRAPS), { maxLength: 5 })
  .chain((wraps) => fc.tuple(fc.array(known, { minLength: 1, maxLength: 3 }), fc.constant(wraps)));

describe("the analysis", () => {
  it("finds every command, however it is nested", () => {
    holds(
      fc.property(nested, fc.constantFrom("\n", " && ", "; ", " | ", " & "), ([inside, wraps], between) => {
        const text = wraps.reduce((inner, wrap) => wrap(inner), inside.join(between));
        const { commands: found, unparsed } = analyse(text);
        expect(unparsed).toBeUndefined();
        expect(found).toEqual(expect.arrayContaining(inside.map((words) => words.split(" "))));
      }),
      { numRuns: 3_000 },
    );
  }, 60_000);

  const PIECES = [..."'\"`$(){}[];&|<>\\\n\t #!*?~=-/ax1", "$(", "$((", "<<E\n", "bash -c ", "if ", "done", "${", "$'"];

  it("never throws", () => {
    holds(
      fc.property(fc.array(fc.constantFrom(...PIECES), { maxLength: 60 }), (pieces) => {
        const { commands: found } = analyse(pieces.join(""));
        expect(found.every((argv) => argv.length > 0)).toBe(true);
      }),
      { numRuns: 20_000 },
    );
  }, 60_000);

  const HOSTILE = [
    ...["$(", "`", "'", '"', "\\", "$((", "${", "<(", "{ ", "((", "[[ ", "a=(", "$'", "if ", "case x in a) "],
    ...["<<A ", "<<A\n", "f()", "a;", "a|", "a&&", "\n", "x ", "env ", "eval ", "bash -c ", "xargs ", "{}", "$x", "# "],
    ..."a=1 ,\\\n,$(a),`a`,\"a\",'a',(a);,bash <<A\na\nA\n,eval 'a';,find -exec a {} + ".split(","),
  ];

  it.each(HOSTILE)("takes no longer than a moment for 64 KiB of %j", (piece) => {
    const text = piece.repeat(Math.floor(65_536 / piece.length));
    const times = Array.from({ length: 3 }, () => {
      const startedAt = performance.now();
      analyse(text);
      return performance.now() - startedAt;
    });
    // The least of them: other work on the machine is not ours.
    expect(Math.min(...times)).toBeLessThan(10_000);
  });
});
