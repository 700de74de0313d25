import { HOME } from "./places.ts";

/** Variables that load code into a program or send it elsewhere: never taken from an image. */
const REFUSED = [
  /^LD_/,
  /^DYLD_/,
  /^GLIBC_TUNABLES$/,
  /^BASH_ENV$/,
  /^ENV$/,
  /^PROMPT_COMMAND$/,
  /^SHELLOPTS$/,
  /^BASHOPTS$/,
  /^BASH_FUNC_/,
  /^NODE_OPTIONS$/,
  /^PYTHONSTARTUP$/,
  /^PERL5OPT$/,
  /^RUBYOPT$/,
  /^(_?JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS)$/,
  /^GIT_/,
  /_proxy$/i,
];

/** Where a command looks for programs when its image says nothing. */
const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** So that no program waits for a terminal or a person. */
const UNATTENDED: Record<string, string> = {
  TERM: "dumb",
  PAGER: "cat",
  GIT_PAGER: "cat",
  GIT_EDITOR: "true",
  GIT_TERMINAL_PROMPT: "0",
  DEBIAN_FRONTEND: "noninteractive",
};

export type CommandEnvironment = { env: Record<string, string>; refused: string[] };

/** The whole environment of commands: the image's own variables without those that load code or redirect, then ours. */
export function commandEnvironment(
  imageEnv: readonly string[],
  set: Readonly<Record<string, string>>,
): CommandEnvironment {
  const entries = imageEnv.map((entry): [string, string] => {
    const at = entry.indexOf("=");
    return at < 0 ? [entry, ""] : [entry.slice(0, at), entry.slice(at + 1)];
  });
  const refused = entries.flatMap(([name]) => (isRefused(name) ? [name] : []));
  const kept = entries.filter(([name]) => !isRefused(name));
  return {
    env: { PATH, LANG: "C.UTF-8", ...Object.fromEntries(kept), ...UNATTENDED, HOME, TMPDIR: "/tmp", ...set },
    refused,
  };
}

function isRefused(name: string): boolean {
  return REFUSED.some((pattern) => pattern.test(name));
}
