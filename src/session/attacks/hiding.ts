import type { Attack } from "./attack.ts";
import { calls, control, deniedBy, harmless, shell, tool } from "./steps.ts";

/** Hidden files by every name they have. */
const NAMES = [
  "key.hide",
  "./free/../key.hide",
  "$PWD/deep/keys/key.hide",
  "links-to-keys/key.hide",
  "hidden/key",
  "/proc/self/cwd/key.hide",
  "/proc/self/root$PWD/hidden/key",
].join(" ");
/** Prints a file with what every shell has, then with programs that an image may have. */
const PRINT = `for f in ${NAMES}; do
  while IFS= read -r line; do echo "$line"; done < "$f"
  cat "$f"; od -c "$f"; base64 "$f"; dd if="$f"
done 2>/dev/null`;
const COPIES = `mkdir -p /tmp/36 && { cp -a key.hide hidden deep/keys /tmp/36; tar cf - key.hide hidden deep | tar xf - -C /tmp/36
  ln key.hide /tmp/36/hard; ln -s "$PWD/key.hide" /tmp/36/soft; mv deep/keys deep/moved; mv key.hide free/other; rm -f key.hide; }
  for f in /tmp/36/* /tmp/36/*/* deep/moved/* free/other; do while IFS= read -r line; do echo "$line"; done < "$f"; done`;
const READS = control(shell('while IFS= read -r line; do echo "$line"; done < ordinary.txt', /^ok: ordinary\b/));
const rule = (index: number): RegExp => deniedBy(`attack/workspace.hidden[${index}]`);

/** Ways to see what the policy hides. What is hidden has the host's secret in it, which nothing inside may print. */
export const HIDING_ATTACKS: Attack[] = [
  {
    id: "FS-36",
    title: "A hidden file read by another program, encoding, name or tool",
    steps: () => [
      READS,
      harmless("bash", { command: PRINT }),
      harmless("bash", { command: `{ ${COPIES}; } 2>/dev/null` }),
      harmless("grep", { pattern: "canary" }),
      tool("read", { path: "key.hide" }, rule(1)),
      tool("read", { path: "deep/./keys/key.hide" }, rule(1)),
      tool("read", { path: "hidden/key" }, rule(0)),
      tool("edit", { path: "key.hide", edits: [{ oldText: "canary", newText: "x" }] }, rule(1)),
      tool("write", { path: "hidden/new", content: "harm" }, rule(0)),
      calls(
        "EROFS EACCES EBUSY EXDEV ENOENT",
        "own openat -100 =key.hide 02001",
        "own unlinkat -100 =key.hide 0",
        "own unlinkat -100 =hidden 0x200",
        "own openat -100 =hidden/key 0",
        "own openat -100 =hidden/new 0101 0644",
        "own renameat -100 =deep/keys -100 =deep/x36",
        "own linkat -100 =key.hide -100 =free/hard 0",
      ),
    ],
  },
  {
    id: "FS-37",
    title: "The names and sizes of what is hidden",
    steps: () => [
      control(tool("ls", { path: "deep" }, /^ok[\s\S]*keys/)),
      control(shell("[ -s ordinary.txt ] && echo has a size", /^ok: has a size/)),
      shell(
        '[ -s key.hide ] && echo has a size; for f in hidden/* hidden/.[!.]*; do [ -e "$f" ] && echo "$f"; done; echo end',
        /^ok: end$/,
      ),
      tool("ls", { path: "hidden" }, rule(0)),
      tool("find", { pattern: "*", path: "hidden" }, rule(0)),
    ],
  },
  {
    id: "FS-40",
    title: "What a pattern hides, reached through a link to its folder",
    steps: () => [
      control(tool("read", { path: "links-to-keys/open" }, /^ok/)),
      shell("[ -s links-to-keys/key.hide ] && echo has a size; echo end", /^ok: end$/),
      tool("read", { path: "links-to-keys/key.hide" }, rule(1)),
      calls("EROFS EACCES", "own openat -100 =links-to-keys/key.hide 02001"),
    ],
  },
];
