import { type Argv, isKnown } from "./shell-line.ts";

/** The options of a program that take the next word for their value, letters behind one dash and names, and its flags. */
export type Options = { letters: string; names: readonly string[]; flags: readonly string[] };

/** A program that runs the command its words name. */
export type Wrapper = Options & {
  /** Words between the options and the command. */
  operands: number;
  /** Words with `=` may stand before the command. */
  assigns: boolean;
};

const names = (text: string): string[] => text.split(" ").filter((name) => name !== "");

const wrapper = (letters: string, long = "", flags = "", more: Partial<Wrapper> = {}): Wrapper => ({
  letters,
  names: names(long),
  flags: names(`help version ${flags}`),
  operands: 0,
  assigns: false,
  ...more,
});

const PERSONALITY =
  "verbose addr-no-randomize fdpic-funcptrs mmap-page-zero addr-compat-layout read-implies-exec 32bit short-inode whole-seconds sticky-timeouts 3gb 4gb uname-2.6 list";
const personality = wrapper("", "", PERSONALITY);

export const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  builtin: wrapper(""),
  busybox: wrapper(""),
  choom: wrapper("np", "adjust pid"),
  chroot: wrapper("", "userspec groups", "skip-chdir", { operands: 1 }),
  chrt: wrapper(
    "TPD",
    "sched-runtime sched-deadline sched-period",
    "batch deadline ext fifo idle other rr reset-on-fork all-tasks max pid verbose",
    { operands: 1 },
  ),
  command: wrapper(""),
  doas: wrapper("uC"),
  env: wrapper(
    "uCa",
    "unset chdir argv0",
    "ignore-environment null debug block-signal default-signal ignore-signal list-signal-handling",
    { assigns: true },
  ),
  exec: wrapper("a"),
  flock: wrapper(
    "wE",
    "timeout wait conflict-exit-code",
    "shared exclusive unlock nonblock nb close no-fork verbose fcntl",
    { operands: 1 },
  ),
  ionice: wrapper("cnpPu", "class classdata pid pgid uid", "ignore"),
  linux32: personality,
  linux64: personality,
  nice: wrapper("n", "adjustment"),
  ltrace: wrapper("aAeDFlnopsuwx"),
  noglob: wrapper(""),
  nohup: wrapper(""),
  pkexec: wrapper("", "user", "disable-internal-agent keep-cwd"),
  prlimit: wrapper(
    "po",
    "pid output",
    "core data nice fsize sigpending memlock rss nofile msgqueue rtprio stack cpu nproc as locks rttime noheadings raw verbose",
  ),
  setarch: personality,
  setpriv: wrapper(
    "",
    "ruid euid reuid rgid egid regid groups ambient-caps inh-caps bounding-set securebits pdeathsig selinux-label apparmor-profile landlock-access landlock-rule ptracer seccomp-filter",
    "clear-groups keep-groups init-groups no-new-privs nnp dump reset-env list",
  ),
  setsid: wrapper("", "", "ctty fork wait"),
  strace: wrapper(
    "abeEIoOpPsSuUX",
    "attach columns env expr output string-limit trace user",
    "follow-forks output-append-mode quiet summary-only summary syscall-times timestamps",
  ),
  stdbuf: wrapper("ioe", "input output error"),
  sudo: wrapper(
    "CDghpRrTtUu",
    "close-from chdir group host prompt chroot role command-timeout type other-user user login-class",
    "askpass background bell edit set-home login remove-timestamp reset-timestamp list non-interactive no-update preserve-groups preserve-env stdin shell validate",
    { assigns: true },
  ),
  taskset: wrapper("", "", "all-tasks pid cpu-list", { operands: 1 }),
  time: wrapper("fo", "format output", "append portability verbose quiet"),
  timeout: wrapper("ks", "kill-after signal", "preserve-status foreground verbose", { operands: 1 }),
  unbuffer: wrapper(""),
  unshare: wrapper(
    "RwSG",
    "root wd setuid setgid map-user map-group map-users map-groups propagation setgroups monotonic boottime",
    "mount uts ipc net pid user cgroup time fork mount-proc map-root-user map-current-user map-auto keep-caps kill-child",
  ),
  xargs: wrapper(
    "aEILnPsd",
    "arg-file delimiter max-args max-chars max-procs process-slot-var",
    "null no-run-if-empty verbose exit open-tty interactive show-limits eof max-lines replace",
  ),
};

/** `runuser` is a wrapper only with this option. */
export const RUNUSER: Options = wrapper(
  "ugGsw",
  "user group supp-group shell whitelist-environment",
  "fast login preserve-environment pty",
);

export const WATCH: Options = wrapper(
  "nqs",
  "interval equexit shotsdir",
  "beep color no-color differences chgexit errexit no-title no-wrap precise exec no-rerun",
);

/** Programs that read a text as shell commands, from `-c`, a file or their input. */
export const SHELLS: ReadonlySet<string> = new Set(names("ash bash dash ksh mksh rbash sh zsh"));

/** Programs that start a shell where no command is named. */
export const SHELL_STARTERS: ReadonlySet<string> = new Set(names("chroot doas pkexec runuser script su sudo unshare"));

export const PARALLEL: Options = wrapper(
  "jaInNdLPS",
  "jobs arg-file delimiter max-args max-procs joblog results sshlogin colsep timeout retries halt tagstring delay",
  "keep-order dry-run verbose bar progress eta tag null no-notice will-cite line-buffer ungroup pipe xargs",
);

const git: Options = {
  letters: "Cc",
  names: names("git-dir work-tree namespace super-prefix config-env attr-source"),
  flags: names(
    "version help exec-path html-path man-path info-path paginate no-pager bare no-replace-objects no-lazy-fetch no-optional-locks no-advice literal-pathspecs glob-pathspecs noglob-pathspecs icase-pathspecs p P v h",
  ),
};
const npm: Options = {
  letters: "CFw",
  names: names("prefix workspace filter dir cwd registry loglevel userconfig globalconfig cache otp tag access scope"),
  flags: names("silent quiet verbose version help global json yes workspaces offline s q d g h v y"),
};
const docker: Options = {
  letters: "Hcl",
  names: names("host config connection context identity log-level root runroot tlscacert tlscert tlskey url"),
  flags: names("debug tls tlsverify version help remote D v h"),
};
const kubectl: Options = {
  letters: "nsv",
  names: names(
    "as as-group as-uid cache-dir certificate-authority client-certificate client-key cluster context kubeconfig log-flush-frequency namespace password profile profile-output request-timeout server tls-server-name token user username v vmodule",
  ),
  flags: names("insecure-skip-tls-verify match-server-version warnings-as-errors help h"),
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

/** How many words the option `word` is: itself, and the next one if that is its value. Names may be abbreviated. */
export function optionLength(word: string, { letters, names: long, flags }: Options): 1 | 2 {
  if (word.startsWith("--")) {
    const name = word.slice(2);
    if (long.includes(name)) return 2;
    return name !== "" && !flags.includes(name) && long.some((other) => other.startsWith(name)) ? 2 : 1;
  }
  const at = valueLetter(word, letters);
  return at > 0 && at === word.length - 1 ? 2 : 1;
}

/** Whether the option is known as it is written. */
export function isListed(word: string, { letters, names: long, flags }: Options): boolean {
  const name = /^--([^=]+)/.exec(word)?.[1];
  if (name !== undefined) return long.includes(name) || flags.includes(name);
  const at = valueLetter(word, letters);
  return [...word.slice(1, at > 0 ? at : undefined)].every((letter) => flags.includes(letter));
}

/** Where the options of `args` end, and whether one of them may not be what it seems. */
export function readOptions(args: Argv, options: Options): { end: number; isSure: boolean } {
  let end = 0;
  let isSure = true;
  for (let option = args[0]; option?.startsWith("-"); option = args[end]) {
    if (option === "--") return { end: end + 1, isSure };
    isSure &&= isKnown(option) && isAbbreviated(option, options);
    end += optionLength(option, options);
  }
  return { end, isSure };
}

/** Whether the name of an option is the beginning of one that is known. */
export function isAbbreviated(word: string, { names: long, flags }: Options): boolean {
  const name = /^--([^=]+)/.exec(word)?.[1];
  return name === undefined || [...long, ...flags].some((other) => other.startsWith(name));
}

function valueLetter(word: string, letters: string): number {
  for (let at = 1; at < word.length; at++) if (letters.includes(word.charAt(at))) return at;
  return -1;
}
