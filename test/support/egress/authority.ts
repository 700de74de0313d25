import "reflect-metadata";
import { webcrypto } from "node:crypto";
import * as x509 from "@peculiar/x509";

/** A key and the chain that goes with it, both PEM. */
export type Identity = { key: string; cert: string };

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const DAY_MS = 86_400_000;

/** A certificate authority of the tests' own. */
export class Authority {
  /** The certificate to trust. */
  readonly pem: string;
  readonly #issuer: string;
  readonly #keys: webcrypto.CryptoKeyPair;

  private constructor(pem: string, issuer: string, keys: webcrypto.CryptoKeyPair) {
    this.pem = pem;
    this.#issuer = issuer;
    this.#keys = keys;
  }

  static async create(name = "glovebox test authority"): Promise<Authority> {
    x509.cryptoProvider.set(webcrypto);
    const keys = await newKeys();
    const certificate = await x509.X509CertificateGenerator.createSelfSigned({
      ...lifetime(10 * DAY_MS),
      serialNumber: "01",
      name: `CN=${name}`,
      signingAlgorithm: ALGORITHM,
      keys,
      extensions: [
        new x509.BasicConstraintsExtension(true, 1, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      ],
    });
    return new Authority(certificate.toString("pem"), certificate.subject, keys);
  }

  /** `lastsMs` below zero gives one that has expired. */
  async certify(names: readonly string[], lastsMs = DAY_MS): Promise<Identity> {
    const keys = await newKeys();
    const certificate = await x509.X509CertificateGenerator.create({
      ...lifetime(lastsMs),
      serialNumber: Buffer.from(webcrypto.getRandomValues(new Uint8Array(8))).toString("hex"),
      subject: `CN=${names[0]}`,
      issuer: this.#issuer,
      signingAlgorithm: ALGORITHM,
      publicKey: keys.publicKey,
      signingKey: this.#keys.privateKey,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.SubjectAlternativeNameExtension(names.map((value) => ({ type: "dns" as const, value }))),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
        await x509.AuthorityKeyIdentifierExtension.create(this.#keys.publicKey),
      ],
    });
    const key = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey)).toString("base64");
    const lines = key.match(/.{1,64}/g) ?? [];
    return {
      key: `-----BEGIN PRIVATE KEY-----\n${lines.join("\n")}\n-----END PRIVATE KEY-----\n`,
      cert: certificate.toString("pem"),
    };
  }
}

function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]) as Promise<webcrypto.CryptoKeyPair>;
}

function lifetime(lastsMs: number): { notBefore: Date; notAfter: Date } {
  const now = Date.now();
  return { notBefore: new Date(now - DAY_MS + Math.min(lastsMs, 0)), notAfter: new Date(now + lastsMs) };
}
