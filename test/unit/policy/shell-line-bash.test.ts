import { afterAll, describe, expect, it } from "vitest";
import { analyse } from "../../../src/policy/shell-line/analyse.ts";
import { type Argv, isKnown } from "../../../src/policy/shell-line/shell-line.ts";
import { StubPrograms } from "../../support/stub-programs.ts";

const stubs = await StubPrograms.create(["git", "npm", "sudo"]);
afterAll(() => stubs[Symbol.asyncDispose]());

/** Whether words that are known are the words of a call, holes whatever. */
function fits(argv: Argv, call: Argv): boolean {
  const hole = argv.findIndex((word) => !isKnown(word));
  const known = hole === -1 ? argv.length : hole;
  return (hole !== -1 || argv.length === call.length) && argv.slice(0, known).every((word, at) => word === call[at]);
}

/** Texts for which bash runs `git push`, in ways that hide it. */
const HIDDEN: [string, string][] = [
  ["O-CMD-04 a backslash in the name", "g\\it push"],
  ["O-CMD-04 quotes in the name", `"git" pu''sh`],
  ["an escape in the name", "$'\\x67it' $'\\160ush'"],
  ["an escape that ends the text", "$'git\\0 no' push"],
  ["a name on two lines", "gi\\\nt push"],
  ["a path", 'D=$(type -p git); "$D" push'],
  ["O-CMD-01 a list", "true; false || git push & wait"],
  ["O-CMD-01 a pipeline", "git push | cat"],
  ["a negation", "! git push"],
  ["a timed command", "time -p git push"],
  ["a subshell", "(cd / && (git push))"],
  ["a group that closes behind a parenthesis", "{ (git push) }"],
  ["a group without a blank", "{(git push)}"],
  ["a branch", "if false; then :; elif true; then git push; fi"],
  ["a condition", "if git push; then :; fi"],
  ["a loop", "for i in 1; do git push; done"],
  ["an arithmetic loop", "for ((i=0;i<1;i++)) { git push; }"],
  ["a loop's condition", "until git push; do :; done"],
  ["a case", "case a in (b) :;; a|c) git push;; esac"],
  ["a case that falls through", "case a in a) : ;& b) git push ;; esac"],
  ["a function", "f() { git push; }; f"],
  ["a function with a keyword", "function f { git push; }\nf"],
  ["a function in parentheses", "f () ( git push )\nf"],
  ["O-CMD-01 a substitution", 'echo "$(git push)"'],
  ["a substitution in a default", `echo "\${x:-$(git push)}"`],
  ["a substitution in arithmetic", "echo $(( 1 + $(git push; echo 1) ))"],
  ["a substitution in a subscript", 'declare -A a; a["$(git push)"]=1'],
  ["O-CMD-02 a substitution in an assignment", "x=$(git push) true"],
  ["a substitution in an array", "a=(1 # )\n $(git push))"],
  ["a substitution in a test", "[[ -n $(git push) ]]"],
  ["a substitution in a pattern", "case $(git push) in *) ;; esac"],
  ["a substitution in a redirection", "true > /dev/null$(git push)"],
  ["a substitution with a case in it", "echo $(case a in a) git push;; esac)"],
  ["a substitution with a comment in it", "echo $(true # )\ngit push)"],
  ["backticks", "echo `echo \\`git push\\``"],
  ["a process", "cat <(git push)"],
  ["a process that takes output", "true > >(git push); wait"],
  ["a dollar behind a hidden newline", 'echo "$\\\n(git push)"'],
  ["O-CMD-02 an assignment on two lines", "A\\\n=1 git push"],
  ["an assignment to a quoted subscript", 'a["x y"]=1 git push'],
  ["an assignment to a subscript with blanks", "a[1 + 1]=1 git push"],
  ["a keyword on two lines", "i\\\nf true; th\\\nen git push; f\\\ni"],
  ["a redirection first", ">/dev/null 2>&1 git push"],
  ["a named descriptor", "{fd}>/dev/null git push"],
  ["both outputs", "&>/dev/null git push"],
  ["a here-document to a shell", "bash <<'EOF'\ngit push\nEOF"],
  ["a here-document with a substitution", "cat <<EOF\n$(git push)\nEOF"],
  ["a here-document to a group", "{ cat; } <<EOF\n`git push`\nEOF"],
  ["a here-document whose end is on two lines", "cat <<EOF\nEO\\\nF\ngit push\n: <<EOF\nEOF"],
  ["a here-document with tabs", "cat <<-EOF\n\tEOF\n\tgit push\n: <<EOF\nEOF"],
  ["two here-documents", "cat <<A; cat <<'B'\nB\nA\nA\nB\ngit push"],
  ["a here-document in a substitution", "echo $(cat <<EOF\nx\nEOF)\ngit push"],
  ["a here-document and lines in quotes", "cat <<'EOF' \"\n$(git push)\"\nEOF"],
  ["a here-document and lines in a substitution", "cat <<'EOF' $(true\ngit push)\nEOF"],
  ["a here-document with an empty end", "cat <<''\nx\n\ngit push"],
  ["a here-document to a shell in a wrapper", "env A=1 bash <<'EOF'\ngit push\nEOF"],
  ["a here-string to `source`", ". /dev/stdin <<< 'git push'"],
  ["a here-string to a shell", "sh <<< 'git push'"],
  ["`eval`", "eval git 'push'"],
  ["`eval` of a value", "x='git push'; eval \"$x\""],
  ["`bash -c`", "bash -ec 'git push'"],
  ["`bash -c` with options", "bash -eo pipefail -c 'git \"$@\"' _ push"],
  ["`bash` that reads a pipe", "echo git push | bash -s"],
  ["`bash` that reads a process", "bash <(echo git push)"],
  ["`source` of a process", ". <(echo git push)"],
  ["O-CMD-03 `env`", 'env -i -u X PATH="$PATH" A=1 git push'],
  ["`env -S`", "env -S 'git push'"],
  ["`env -S` attached", "env -S'A=1 git push'"],
  ["O-CMD-03 `xargs`", "echo push | xargs -n 1 git"],
  ["`xargs` with a place", "echo push | xargs -I{} git {}"],
  ["O-CMD-03 `timeout`", "timeout -k 5 --signal KILL 10 git push"],
  ["`nice`", "nice -n 5 nice -5 git push"],
  ["`nohup`", "nohup git push"],
  ["`setsid`", "setsid -w git push"],
  ["`stdbuf`", "stdbuf -oL -e 0 git push"],
  ["`command`", "command -p -- env git push 2>/dev/null; command git push"],
  ["`exec`", "exec -a x git push"],
  ["O-CMD-03 `find`", "find /dev/null -maxdepth 0 -exec git push {} \\;"],
  ["`trap`", "trap 'git push' EXIT"],
  ["O-CMD-04 a value", "x=git; $x push"],
  ["a value that is an argument", "x=push; git $x"],
  ["an empty value", "git -C $nothing status push"],
  ["braces", "{git,push}"],
  ["braces in an argument", "git pus{h,}"],
  ["a pattern", "touch push; git pus?"],
  ["an indirect value", `x=git; y=x; \${!y} push`],
  ["all arguments", 'set -- git push; "$@"'],
  ["a prompt", `x='$(git push)'; : \${x@P}`],
  ["global options", "git -C /tmp -c a.b=c --git-dir /x --no-pager push"],
  ["a coprocess", "coproc git push; wait"],
  ["an error on a later line", "git push\n("],
  ["a comment that is none", "true a#b; git push # c"],
  ["a carriage return", "true\r\ngit push"],
];

describe("what bash runs is found in its text", () => {
  it.each(HIDDEN)("%s: %j", async (_, text) => {
    const calls = await stubs.callsOf(text);
    expect(calls.filter(([name]) => name === "git")).not.toEqual([]);
    const { commands, unparsed } = analyse(text);
    const isSeen = (call: Argv): boolean => commands.some((argv) => fits(argv, call));
    expect(unparsed !== undefined || calls.every(isSeen)).toBe(true);
  });
});
