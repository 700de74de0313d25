import type { Declaration } from "./declarations.ts";
import { OUR_WORDS, quoted, SELF_MADE, type ShellFunction, type ShellState } from "./state.ts";

/** What bash reads before the command (`BASH_ENV`). `save` is the script that saves; undefined: nothing is saved. */
export function restoreScript(state: ShellState, save: string | undefined): string {
  const separators = state.variables.find((item) => item.name === "IFS");
  const oldFolder = state.variables.find((item) => item.name === "OLDPWD");
  return [
    "unset BASH_ENV",
    "shopt -s extglob expand_aliases",
    // One redirection for all, since bash opens and moves descriptors for each. What a value makes bash complain of, such
    // as an unknown locale, was said when it was set.
    "{",
    CHEAP_TO_LOSE,
    ...state.variables.filter((item) => item !== oldFolder && item !== separators).map(restoreVariable),
    `cd -- ${quoted(state.cwd)} || cd /`,
    // It is our own folder now, which a declaration without a value would leave so.
    "unset OLDPWD",
    ...(oldFolder ? [restoreVariable(oldFolder)] : []),
    `umask ${state.umask}`,
    `unset ${state.unset.join(" ")}`,
    ...state.functions.map(restoreFunction),
    // An array of this name is a wild pointer to bash, which then reads "$@" as nothing.
    ...(separators ? [restoreVariable(separators)] : []),
    "} 2>/dev/null",
    ...(save === undefined ? [] : [trapScript(save)]),
    // Aliases last: they change how the lines after them are read.
    ...state.aliases.map((item) => `\\eval ${quoted(`\\${item.text}`)} 2>/dev/null || ${lose(item.name)}`),
    "[[ ready ]]",
    "",
  ].join("\n");
}

/**
 * The value before what would evaluate or change it: `declare -i PATH` leaves a path as it is, but `declare -i PATH=/bin`
 * is an error, and one that ends the whole script.
 */
function restoreVariable({ name, attributes, text }: Declaration): string {
  // What a fresh bash has made may count (OPTIND is an integer), and stays where nothing is assigned.
  const cleared = SELF_MADE.includes(name) || !text.includes("=") ? `unset -v ${name}\n` : "";
  const changing = attributes.replace(/[^ilcu]/g, "");
  if (changing === "") return `${cleared}${text}`;
  const plain = attributes.replace(/[ilcu]/g, "") || "-";
  return `${cleared}${text.replace(/^declare -\S+/, `declare -${plain}`)}\ndeclare -${changing} ${name}`;
}

// The kernel's first choice when memory runs out is a command, not the tool host. Anyone may raise its own score.
const CHEAP_TO_LOSE = "printf 500 >|/proc/self/oom_score_adj";

/** By itself, so that a definition bash printed wrongly costs only that function. */
function restoreFunction({ name, attributes, text }: ShellFunction): string {
  // Without an attribute to set, `declare -f name` would print the function. And `:` may be one: a fork bomb's name.
  const set = attributes === "" ? "[[ set ]]" : `declare -f${attributes} -- ${quoted(name)}`;
  return `if eval ${quoted(text)}; then ${set}; else ${lose(name)}; fi`;
}

function lose(name: string): string {
  return `__glovebox_lost+=(${quoted(name)})`;
}

/**
 * The EXIT trap that saves, and a `trap` that keeps it in front of the EXIT trap of the command. An assignment cannot
 * be shadowed and in POSIX mode a special builtin beats a function, so nothing the command defined is run here. Reading
 * a script that is gone would end a POSIX shell with another exit code; a redirection from it only skips the group.
 */
function trapScript(save: string): string {
  return `trap () {
  { builtin local -; builtin set +vxu; } 2>/dev/null
  builtin local __glovebox_first=${quoted(exitTrap(save))} __glovebox_text __glovebox_signal __glovebox_debug= __glovebox_code=0
  if [[ $# -eq 0 || $1 == -?* && $1 != -- ]]; then
    if __glovebox_text=$(builtin trap "$@" 2>/dev/null); then
      __glovebox_text=\${__glovebox_text/"trap -- '$__glovebox_first' EXIT"}
      __glovebox_text=\${__glovebox_text/"$__glovebox_first"}
      __glovebox_text=\${__glovebox_text#$'\\n'}
      [[ -z $__glovebox_text ]] || builtin printf '%s\\n' "$__glovebox_text"
      builtin return
    fi
    # What is wrong with it, said by bash, but of the line that says it.
    __glovebox_text=$(builtin trap "$@" 2>&1) || __glovebox_code=$?
    builtin printf '%s: line %s: %s\\n' "\${BASH_SOURCE[1]}" "\${BASH_LINENO[0]}" "\${__glovebox_text#*: line *: }" >&2
    builtin return $__glovebox_code
  fi
  if (( BASH_SUBSHELL )); then __glovebox_first=; fi
  if [[ $1 == -- ]]; then builtin shift; fi
  __glovebox_text=$1
  if [[ $# -eq 1 ]]; then __glovebox_text=- __glovebox_code=2; else builtin shift; fi
  for __glovebox_signal; do
    case $__glovebox_text:$__glovebox_signal in
    -:0|-:[Ee][Xx][Ii][Tt]) builtin trap -- "\${__glovebox_first:--}" EXIT ;;
    *:0|*:[Ee][Xx][Ii][Tt]) builtin trap -- "$__glovebox_first\${__glovebox_text#"$__glovebox_first"}" EXIT ;;
    # bash undoes at our return what is reset here, but not what is replaced.
    -:DEBUG|-:RETURN) builtin trap '[[ - ]]' "$__glovebox_signal" ;;
    *:DEBUG) __glovebox_debug=1 ;;
    # It comes at our own return first, and there it makes way for what was asked for.
    ?*:RETURN) builtin trap -- "builtin trap -- \${__glovebox_text@Q} RETURN" RETURN ;;
    *) builtin trap -- "$__glovebox_text" "$__glovebox_signal" 2>/dev/null ;;
    esac && __glovebox_code=\${__glovebox_code#2} || {
      if [[ $__glovebox_code == 2 ]]; then
        builtin printf 'trap: usage: trap [-lp] [[arg] signal_spec ...]\\n' >&2
        builtin break
      fi
      __glovebox_code=1
      builtin printf '%s: line %s: trap: %s: invalid signal specification\\n' "\${BASH_SOURCE[1]}" "\${BASH_LINENO[0]}" "$__glovebox_signal" >&2
    }
  done
  # Last, since every command after it would run it.
  if [[ -n $__glovebox_debug ]]; then builtin trap -- "$__glovebox_text" DEBUG; else builtin return $(( __glovebox_code )); fi
}
builtin trap -- ${quoted(exitTrap(save))} EXIT`;
}

/** The EXIT trap that runs `save`, with its line end; `set -v` prints it. */
export function exitTrap(save: string): string {
  return `{ __glovebox_status=$? POSIXLY_CORRECT=1; \\trap - DEBUG ERR RETURN; \\. ${plain(save)}; } >/dev/null 2>&1 <${plain(save)}\n`;
}

/** Without quotes where they are not needed, so that a listing of traps can be cleaned by one comparison. */
function plain(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : quoted(path);
}

/**
 * Writes the state to `saved`, the nonce last. Runs inside the command's own shell, whatever has become of it. `saved`
 * has to be there, since with a umask of 777 nobody could read or reopen what is created.
 */
export function saveScript(saved: string, names: string, nonce: string): string {
  // A read-only function cannot be unset, and what it would save is not the state.
  return `\\set +evxu
\\unset -f ${OUR_WORDS.join(" ")} || return $__glovebox_status
\\unset POSIXLY_CORRECT
\\shopt -u expand_aliases
enable ${OUR_WORDS.join(" ")}
trap '' XFSZ
{
  pwd; printf '\\0'
  umask; printf '\\0'
  umask 077
  declare -p; printf '\\0'
  alias -p; printf '\\0'
  printf '%s\\n' "\${__glovebox_lost[@]-}"; printf '\\0'
  # An exit inside a function saves while its local variables are still in sight.
  local -p; printf '\\0'
  unset -v IFS
  declare -F >|${quoted(names)}
  mapfile -t __glovebox_names <${quoted(names)}
  for __glovebox_line in "\${__glovebox_names[@]}"; do
    printf '%s\\0' "$__glovebox_line"
    declare -f -- "\${__glovebox_line##* }"
    printf '\\0'
  done
  printf '%s' ${quoted(nonce)}
} >|${quoted(saved)}
return $__glovebox_status
`;
}

/**
 * The same for a POSIX `sh`, as one script: it restores, reads the command from `text` and saves. Functions and plain
 * variables are not carried, and an EXIT trap of a command that ends with `exit` takes the place of ours.
 */
export function posixScript(state: ShellState, text: string, saved: string, nonce: string): string {
  const isOld = (item: { name: string }): boolean => item.name === "OLDPWD";
  // The last line is one command, so that `set -v` has nothing of ours to show. A trace shows simple commands: there is
  // none before the redirection, and no `exit` unless no file can be opened any more.
  return `{ printf 500 >|/proc/self/oom_score_adj; } 2>/dev/null
${state.variables.flatMap((item) => (isOld(item) ? [] : [item.text])).join("\n")}
cd -- ${quoted(state.cwd)} || cd /
${state.variables.find(isOld)?.text ?? "unset OLDPWD"}
umask ${state.umask}
__glovebox_save() {
  __glovebox_status=$1
  trap '' XFSZ
  unset -f command printf pwd umask
  {
    pwd; printf '\\0'
    umask; printf '\\0'
    export -p; printf 'export __glovebox\\n\\0\\0\\0\\0'
    printf '%s' ${quoted(nonce)}
  } >|${quoted(saved)}
  __glovebox_done=1
  __glovebox_end
}
__glovebox_end() { return "$__glovebox_status"; }
trap '{ __glovebox_save "$?"; } 2>/dev/null' 0
__glovebox_done=
true
{ . ${quoted(text)}; for __glovebox_status in "$?"; do { __glovebox_save "$__glovebox_status"; } 2>/dev/null || case $__glovebox_done in "") exit "$__glovebox_status";; *) { __glovebox_end; } 2>/dev/null;; esac; done; }
`;
}
