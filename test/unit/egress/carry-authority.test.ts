import { execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, createServer } from "node:tls";
import { afterAll, describe, expect, it } from "vitest";
import { createAuthority } from "../../../src/egress/carry/authority.ts";
import { listenOn, portOf } from "./carry-fixture.ts";

const folder = mkdtempSync(join(tmpdir(), "glovebox-authority-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const authority = await createAuthority();

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** What a TLS client says of a server with this certificate: the name it was certified for, or the error. */
async function shake(ca: string, servername: string, { key, cert }: { key: string; cert: string }): Promise<string> {
  const server = createServer({ key, cert });
  const close = await listenOn(server);
  const client = connect({ port: portOf(server), host: "127.0.0.1", servername, ca });
  const said = await new Promise<string>((resolve) => {
    client.on("secureConnect", () => resolve(client.getPeerCertificate().subjectaltname ?? ""));
    client.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
  client.destroy();
  await close();
  return said;
}

describe("the authority of a session", { timeout: 30_000 }, () => {
  it("certifies a name to who trusts it, and to nobody else", async () => {
    const certified = await authority.certify("allowed.test");
    const other = await createAuthority();
    expect(await shake(authority.certificate, "allowed.test", certified)).toBe("DNS:allowed.test");
    expect(await shake(authority.certificate, "other.test", certified)).toBe("ERR_TLS_CERT_ALTNAME_INVALID");
    expect(await shake(other.certificate, "allowed.test", certified)).toBe("UNABLE_TO_VERIFY_LEAF_SIGNATURE");
  });

  it("certifies a name of 253 characters", async () => {
    const name = `${[..."abc"].map((letter) => letter.repeat(62)).join(".")}.${"d".repeat(59)}.test`;
    expect(await shake(authority.certificate, name, await authority.certify(name))).toBe(`DNS:${name}`);
  });

  it("is accepted by openssl, by its strictest rules", async () => {
    const { cert } = await authority.certify("allowed.test");
    const [root, leaf] = [write("root.pem", authority.certificate), write("leaf.pem", cert)];
    const verify = ["verify", "-x509_strict", "-purpose", "sslserver", "-verify_hostname", "allowed.test"];
    const said = execFileSync("openssl", [...verify, "-CAfile", root, leaf], { encoding: "utf8" });
    expect(said).toBe(`${leaf}: OK\n`);
  });

  it("is valid for a week, from an hour ago on, and signs no further authority", async () => {
    const own = new X509Certificate(authority.certificate);
    const leaf = new X509Certificate((await authority.certify("allowed.test")).cert);
    const hours = ({ validFrom, validTo }: X509Certificate) =>
      [Date.now() - Date.parse(validFrom), Date.parse(validTo) - Date.now()].map((ms) => Math.round(ms / 3_600_000));
    expect([own, leaf].map(hours)).toEqual([
      [1, 168],
      [1, 168],
    ]);
    expect([own.ca, leaf.ca]).toEqual([true, false]);
    expect(own.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: "prime256v1" });
  });

  it("has another name and key in every session", async () => {
    const [one, two] = [authority, await createAuthority()].map(({ certificate }) => new X509Certificate(certificate));
    expect(one?.subject).not.toBe(two?.subject);
    expect(one?.publicKey.equals(two?.publicKey ?? one.publicKey)).toBe(false);
  });

  it("makes one certificate for a name that is asked for many times at once", async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => authority.certify("often.test")));
    expect(new Set(made.map(({ cert }) => cert)).size).toBe(1);
  });
});
