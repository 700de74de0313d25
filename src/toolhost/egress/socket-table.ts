import { closeSync, openSync, readdirSync, readlinkSync, readSync } from "node:fs";

/** A socket as `/proc/net` shows it. IPv4 addresses are dotted, mapped ones too; others are the kernel's digits. */
export type SocketEntry = {
  address: string;
  port: number;
  remotePort: number;
  listens: boolean;
  inode: string;
};

export type Protocol = "tcp" | "udp";

/** About 25,000 sockets; a command that opens more hides itself and is not found. */
const MAX_TABLE_BYTES = 4 * 1024 * 1024;
/** Open files looked at for one socket: what one process may have. */
const MAX_LINKS = 16_384;
/** The kernel's number of the state LISTEN (tcp_states.h). */
const LISTEN = "0A";
export const ANY_ADDRESS: readonly string[] = ["0.0.0.0", "0".repeat(32)];
const MAPPED = "0000000000000000FFFF0000";
/** `::1` in the kernel's digits: four words, each in the order of a little-endian machine. */
const LOOPBACK6 = "00000000000000000000000001000000";

/** Sockets of both families. */
export function listSockets(protocol: Protocol): SocketEntry[] {
  return [`/proc/net/${protocol}`, `/proc/net/${protocol}6`].flatMap((path) => parseSockets(readTable(path)));
}

/** Lines such as `0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000 0 12345 …`. */
export function parseSockets(table: string): SocketEntry[] {
  return table.split("\n").flatMap((line) => {
    const [, local = "", remote = "", state, , , , , , inode] = line.trim().split(/ +/);
    const [address = "", port = ""] = local.split(":");
    if (inode === undefined || !/^\d+$/.test(inode) || port === "") return [];
    return [
      {
        address: shownAddress(address),
        port: Number.parseInt(port, 16),
        remotePort: Number.parseInt(remote.split(":")[1] ?? "0", 16),
        listens: state === LISTEN,
        inode,
      },
    ];
  });
}

function shownAddress(digits: string): string {
  if (digits === LOOPBACK6) return "::1";
  const word = digits.length === 8 ? digits : digits.startsWith(MAPPED) ? digits.slice(24) : undefined;
  if (word === undefined) return digits;
  return [6, 4, 2, 0].map((at) => Number.parseInt(word.slice(at, at + 2), 16)).join(".");
}

function readTable(path: string): string {
  let fd: number | undefined;
  try {
    fd = openSync(path, "r");
    const parts: Buffer[] = [];
    for (let size = 0; size < MAX_TABLE_BYTES; ) {
      const part = Buffer.allocUnsafe(64 * 1024);
      const read = readSync(fd, part);
      if (read === 0) break;
      parts.push(part.subarray(0, read));
      size += read;
    }
    return Buffer.concat(parts).toString("latin1");
  } catch {
    // No IPv6, or no descriptor left: nothing is found, and that is said of the connection.
    return "";
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** Tells whether a process has the socket open; looks at a bounded number of open files in all. */
export function holderOf(inode: string): (pid: number) => boolean {
  const wanted = `socket:[${inode}]`;
  let left = MAX_LINKS;
  return (pid) => {
    for (const fd of openFiles(pid)) {
      if (left-- <= 0) return false;
      if (linkOf(`/proc/${pid}/fd/${fd}`) === wanted) return true;
    }
    return false;
  };
}

/** Empty for a process that is gone, or closed to us. */
function openFiles(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`);
  } catch {
    return [];
  }
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
