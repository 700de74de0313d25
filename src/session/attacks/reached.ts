import { bytesOf, clientHello, httpRequest } from "./messages.ts";
import { CONTROL, RAW_PORT } from "./outside.ts";
import { calls, control } from "./steps.ts";

export const NO_WAY = "ENETUNREACH EHOSTUNREACH EADDRNOTAVAIL";
/** A connection that was made inside and is refused outside; what came out, the host's side knows. */
export const CUT = "ECONNRESET EPIPE ENODATA";

/** A name is looked up, connected to and answers. */
export const REACHED = control(calls("ok", dialogue(CONTROL, RAW_PORT, "hello")));
export const WEB = control(calls("ok", dialogue(CONTROL, 80, httpRequest(CONTROL))));
export const TLS = control(calls("ok", dialogue(CONTROL, 443, clientHello(CONTROL))));

/** A connection by name, to the end of what the other side first says to these bytes. */
export function dialogue(name: string, port: number, content: string | Buffer): string {
  return `net name 1 =${name}; net connect $1 ${port}; own write $2 ${bytesOf(content)}; net hear $2`;
}

export function connection(port: number): string {
  return `net name 1 =${CONTROL}; net connect $1 ${port}`;
}
