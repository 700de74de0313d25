/** The options of a program that take the next word for their value: letters behind one dash, names behind two. */
export type Options = { letters: string; names: readonly string[] };

/** A program that runs the command its words name. */
export type Wrapper = Options & {
  /** Words between the options and the command. */
  operands: number;
  /** `NAME=value` may stand before the command. */
  assigns: boolean;
};

const names = (text: string): string[] => text.split(" ").filter((name) => name !== "");

const wrapper = (letters: string, long: string, more: Partial<Wrapper> = {}): Wrapper => ({
  letters,
  names: names(long),
  operands: 0,
  assigns: false,
  ...more,
});

export const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  builtin: wrapper("", ""),
  busybox: wrapper("", ""),
  chroot: wrapper("", "", { operands: 1 }),
  chrt: wrapper("TPD", "sched-runtime sched-deadline sched-period", { operands: 1 }),
  command: wrapper("", ""),
  doas: wrapper("uC", ""),
  env: wrapper("uC", "unset chdir", { assigns: true }),
  exec: wrapper("a", ""),
  flock: wrapper("wE", "timeout wait conflict-exit-code", { operands: 1 }),
  ionice: wrapper("cnpPu", "class classdata pid pgid uid"),
  nice: wrapper("n", "adjustment"),
  ltrace: wrapper("aAeDFlnopsuwx", ""),
  noglob: wrapper("", ""),
  nohup: wrapper("", ""),
  pkexec: wrapper("", "user"),
  setsid: wrapper("", ""),
  strace: wrapper("abeEIoOpPsSuUX", "attach columns env expr output string-limit trace user"),
  stdbuf: wrapper("ioe", "input output error"),
  sudo: wrapper(
    "CDghpRrTtUu",
    "close-from chdir group host prompt chroot role command-timeout type other-user user login-class",
    { assigns: true },
  ),
  taskset: wrapper("", "", { operands: 1 }),
  time: wrapper("fo", "format output"),
  timeout: wrapper("ks", "kill-after signal", { operands: 1 }),
  unbuffer: wrapper("", ""),
  unshare: wrapper("RwSG", "root wd setuid setgid map-user map-group propagation setgroups"),
  xargs: wrapper("aEILnPsd", "arg-file delimiter max-args max-chars max-procs process-slot-var"),
};

/** Programs that read a text as shell commands, from `-c`, a file or their input. */
export const SHELLS: ReadonlySet<string> = new Set(names("ash bash dash ksh mksh rbash sh zsh"));

/** Programs that start a shell where no command is named. */
export const SHELL_STARTERS: ReadonlySet<string> = new Set(names("chroot doas pkexec runuser script su sudo unshare"));

export const PARALLEL: Options = {
  letters: "jaInNdLPS",
  names: names("jobs arg-file delimiter max-args max-procs joblog results sshlogin colsep timeout retries"),
};

/** Programs that run the text behind `-c`. */
export const TEXT_RUNNERS: ReadonlySet<string> = new Set(names("flock runuser script su"));

const git: Options = {
  letters: "Cc",
  names: names("git-dir work-tree namespace super-prefix config-env attr-source"),
};
const npm: Options = {
  letters: "CFw",
  names: names("prefix workspace filter dir cwd registry loglevel userconfig globalconfig cache otp tag access scope"),
};
const docker: Options = {
  letters: "Hcl",
  names: names("host config connection context identity log-level root runroot tlscacert tlscert tlskey url"),
};
const kubectl: Options = {
  letters: "nsv",
  names: names(
    "as as-group as-uid cache-dir certificate-authority client-certificate client-key cluster context kubeconfig log-flush-frequency namespace password profile profile-output request-timeout server tls-server-name token user username v vmodule",
  ),
};

/** What stands before the subcommand of some programs; of the others no option is known to take a value. */
export const GLOBAL_OPTIONS: Readonly<Record<string, Options>> = {
  docker,
  git,
  kubectl,
  npm,
  pnpm: npm,
  podman: docker,
  yarn: npm,
};

/** How many words the option `word` is: itself, and the next one if that is its value. */
export function optionLength(word: string, { letters, names: long }: Options): 1 | 2 {
  if (word.startsWith("--")) return long.includes(word.slice(2)) ? 2 : 1;
  const at = [...word].findIndex((letter, index) => index > 0 && letters.includes(letter));
  return at > 0 && at === word.length - 1 ? 2 : 1;
}
