import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Hello } from "../../protocol/messages.ts";
import { ensureFolder, putFile, tryTo } from "../shell/state-folder.ts";

/** Where images keep the authorities they trust: Debian and Alpine, Fedora, BSD-like ones. */
const IMAGE_BUNDLES = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/cert.pem",
] as const;

/** Variables by which a program replaces what it trusts. */
const REPLACING = [
  "SSL_CERT_FILE",
  "CURL_CA_BUNDLE",
  "REQUESTS_CA_BUNDLE",
  "PIP_CERT",
  "GIT_SSL_CAINFO",
  "CARGO_HTTP_CAINFO",
  "AWS_CA_BUNDLE",
] as const;
/** Variables by which a program trusts more: npm by the first. */
const ADDING = ["NODE_EXTRA_CA_CERTS", "DENO_CERT"] as const;

/**
 * `hello` with an environment by which commands trust the session's certificates beside the image's own. A variable that
 * is set already stays, but where it only names the image's authorities, which the new value has too. Java has a store of
 * its own and knows none of this. `bundles` is other in tests only.
 */
export function withCertificates(hello: Hello, bundles: readonly string[] = IMAGE_BUNDLES): Hello {
  const certificates = hello.egress?.certificates;
  if (certificates === undefined) return hello;
  const all = join(hello.state, "certificates.pem");
  const own = join(hello.state, "session-certificates.pem");
  const wgetrc = join(hello.state, "wgetrc");
  tryTo(() => {
    ensureFolder(hello.state);
    putFile(own, certificates, "utf8");
    putFile(all, `${imageBundle(bundles)}\n${certificates}`, "utf8");
    // GNU Wget knows no variable for certificates alone.
    putFile(wgetrc, `ca_certificate = ${all}\n`, "utf8");
  });
  const variables = [...REPLACING.map((name) => [name, all]), ...ADDING.map((name) => [name, own]), ["WGETRC", wgetrc]];
  const said = Object.entries(hello.env).filter(([name, value]) => !isReplaced(name, value, bundles));
  return { ...hello, env: { ...Object.fromEntries(variables), ...Object.fromEntries(said) } };
}

function isReplaced(name: string, value: string, bundles: readonly string[]): boolean {
  return (REPLACING as readonly string[]).includes(name) && bundles.includes(value);
}

function imageBundle(bundles: readonly string[]): string {
  for (const path of bundles) {
    try {
      return readFileSync(path, "utf8");
    } catch {
      // Another image keeps it elsewhere, or has none.
    }
  }
  return "";
}
