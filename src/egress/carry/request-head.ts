import { type Fields, listIn, parseFields } from "./fields.ts";
import { parseRequestLine, type RequestLine } from "./request-line.ts";
import { isOwnHost, pathOf, requirePlainPath, type Scheme } from "./request-path.ts";
import { type Named, refuseAmbiguous, refuseProtocol, shown } from "./words.ts";

export type RequestHead = {
  method: string;
  /** Without the query. */
  path: string;
  /** What follows the head. */
  body: Body;
  /** It asks for a WebSocket. */
  isUpgrade: boolean;
};

export type Body = { type: "length"; bytes: number } | { type: "chunked" };

/** How requests on one connection are looked at. */
export type Looking = Named & {
  scheme: Scheme;
  /** Some rule speaks of methods. */
  seesMethods: boolean;
  /** Some rule speaks of paths. */
  seesPaths: boolean;
};

/** A head, read as strictly as the strictest server reads it. @throws EgressRefusal */
export function parseRequestHead([first = "", ...rest]: readonly string[], looking: Looking): RequestHead {
  const line = parseRequestLine(first, looking);
  const fields = parseFields(rest);
  requireOwnHost(fields, looking);
  const path = pathOf(line.method, line.target, looking);
  if (looking.seesPaths && path !== "*") requirePlainPath(path);
  const body = bodyOf(line, fields);
  if (looking.seesMethods) {
    requireOneMethod(fields);
    requireReadBody(line.method, body);
  }
  return { method: line.method, path, body, isUpgrade: isUpgrade(line, { fields, body, looking }) };
}

function requireOwnHost(fields: Fields, looking: Looking): void {
  const hosts = fields.get("host") ?? [];
  const [host = ""] = hosts;
  if (hosts.length !== 1) throw refuseAmbiguous(`a request has ${hosts.length} Host headers instead of one`);
  if (!isOwnHost(host, looking)) {
    throw refuseAmbiguous(`a request is for the host \`${shown(host)}\` on a connection to \`${looking.name}\``);
  }
}

const OVERRIDES = ["x-http-method-override", "x-method-override", "x-http-method"];

function requireOneMethod(fields: Fields): void {
  const named = OVERRIDES.find((name) => fields.has(name) || fields.has(name.replaceAll("-", "_")));
  if (named) throw refuseAmbiguous(`a request has the header \`${named}\`, and rules here are for methods`);
}

const BODILESS = ["GET", "HEAD", "OPTIONS", "TRACE", "DELETE"];

/** A server that does not read such a body takes it for the next request, which no rule has seen. */
function requireReadBody(method: string, body: Body): void {
  if (!hasBody(body) || !BODILESS.includes(method.toUpperCase())) return;
  throw refuseAmbiguous(`a request by ${shown(method)} has a body, and rules here are for methods or paths`);
}

export function hasBody(body: Body): boolean {
  return body.type === "chunked" || body.bytes > 0;
}

function bodyOf({ version }: RequestLine, fields: Fields): Body {
  const [coding, ...codings] = fields.get("transfer-encoding") ?? [];
  const [length, ...lengths] = fields.get("content-length") ?? [];
  if (listIn(fields, "connection").some((name) => HOP_FREE.includes(name))) {
    throw refuseAmbiguous("a request's Connection header names a header that must arrive");
  }
  if (coding !== undefined) {
    if (length !== undefined) throw refuseAmbiguous("a request has both Content-Length and Transfer-Encoding");
    if (version === "1.0") throw refuseAmbiguous("a request of HTTP/1.0 has a Transfer-Encoding");
    if (codings.length > 0 || coding.toLowerCase() !== "chunked") {
      throw refuseAmbiguous(`a request's Transfer-Encoding is \`${shown([coding, ...codings].join(", "))}\``);
    }
    return { type: "chunked" };
  }
  if (lengths.length > 0) throw refuseAmbiguous("a request has more than one Content-Length");
  if (length !== undefined && !/^\d{1,15}$/.test(length)) {
    throw refuseAmbiguous(`a request's Content-Length is \`${shown(length)}\``);
  }
  return { type: "length", bytes: Number(length ?? 0) };
}

const HOP_FREE = ["host", "content-length", "transfer-encoding"];

type Rest = { fields: Fields; body: Body; looking: Looking };

function isUpgrade({ method, version }: RequestLine, { fields, body, looking }: Rest): boolean {
  const wanted = listIn(fields, "upgrade");
  const [first] = wanted;
  if (first === undefined) return false;
  if (wanted.length > 1 || first !== "websocket") {
    const asked = `a request asks to change to \`${shown(wanted.join(", "))}\``;
    throw refuseProtocol(looking, `${asked}, in which what follows cannot be looked at`);
  }
  const isHandshake =
    method === "GET" &&
    version === "1.1" &&
    body.type === "length" &&
    body.bytes === 0 &&
    listIn(fields, "connection").includes("upgrade") &&
    /^[\da-z+/]{22}==$/i.test(only(fields, "sec-websocket-key")) &&
    only(fields, "sec-websocket-version") === "13";
  if (!isHandshake) throw refuseAmbiguous("a request asks for a WebSocket and is no handshake of RFC 6455");
  return true;
}

function only(fields: Fields, name: string): string {
  const [value = "", ...more] = fields.get(name) ?? [];
  return more.length === 0 ? value : "";
}
