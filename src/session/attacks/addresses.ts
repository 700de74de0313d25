import { isIPv6 } from "node:net";

/** A `sockaddr` of Linux as the runtime's program takes it, and its length: `%0200… 16`. */
export function socketAddress(address: string, port: number): string {
  const portHex = port.toString(16).padStart(4, "0");
  if (isIPv6(address)) return `%0a00${portHex}00000000${bytesOfIPv6(address)}00000000 28`;
  const bytes = address.split(".").map((part) => Number(part).toString(16).padStart(2, "0"));
  return `%0200${portHex}${bytes.join("")}${"00".repeat(8)} 16`;
}

/** The same for a path, or for an abstract name, which begins with a NUL. */
export function unixAddress(name: string): string {
  const bytes = Buffer.from(name);
  return `%0100${bytes.toString("hex")}${name.startsWith("\0") ? "" : "00"} ${2 + bytes.length + (name.startsWith("\0") ? 0 : 1)}`;
}

function bytesOfIPv6(address: string): string {
  const [head = "", tail = ""] = address.split("::");
  const groups = (text: string): string[] =>
    text === "" ? [] : text.split(":").map((group) => group.padStart(4, "0"));
  const [front, back] = [groups(head), groups(tail)];
  return [...front, ...Array(8 - front.length - back.length).fill("0000"), ...back].join("");
}
