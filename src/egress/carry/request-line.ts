import type { EgressRefusal } from "../refusal.ts";
import { type Named, refuseAmbiguous, refuseProtocol, shown } from "./words.ts";

export type RequestLine = { method: string; target: string; version: "1.0" | "1.1" };

/** Longer than any registered method. */
export const MAX_METHOD_CHARS = 32;
const LINE = /^([!#$%&'*+.^_`|~\dA-Za-z-]{1,32}) ([\u0021-\u007e\u0080-\u00ff]+) HTTP\/(\d\.\d)$/;

/** The first line of a request. @throws EgressRefusal */
export function parseRequestLine(line: string, named: Named): RequestLine {
  const [, method, target, version] = LINE.exec(line) ?? [];
  if (method === undefined || target === undefined) throw refuseNoHttp(line, named);
  if (version === "2.0") {
    throw refuseProtocol(named, "the program speaks HTTP/2 without TLS, in which single requests are not looked at");
  }
  if (version !== "1.0" && version !== "1.1") throw refuseAmbiguous(`a request has the version HTTP/${version}`);
  if (method.toUpperCase() === "CONNECT") {
    throw refuseAmbiguous(`CONNECT to \`${shown(target)}\`: connections go to names directly, without a proxy`);
  }
  if (target.includes("#")) throw refuseAmbiguous("a request's target has a fragment");
  return { method, target, version };
}

/** What begins like HTTP and is none. */
export function refuseNoHttp(line: string, named: Named): EgressRefusal {
  return refuseProtocol(named, `expected TLS or a request of HTTP/1.1, met \`${shown(line)}\``);
}
