import { KeyObject, randomBytes, webcrypto } from "node:crypto";

/** Certifies names to the programs of one session, which are told to trust it. Nothing of it is ever written. */
export type Authority = {
  /** Its own certificate, PEM. */
  certificate: string;
  /** A certificate and its key, PEM, for a canonical name. */
  certify: (name: string) => Promise<Certified>;
};

type Certified = { key: string; cert: string };

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
/** Clocks of containers are the host's; an hour is for programs that compare with a file's time. */
const BACKDATED_MS = 60 * 60 * 1000;
/** Longer than a session lives. */
const VALID_MS = 7 * 24 * 60 * 60 * 1000;
/** As many names as a session may have. */
const MAX_KEPT = 512;

/** A new authority, whose key cannot be taken out of the process. */
export async function createAuthority(): Promise<Authority> {
  const x509 = await import("./x509.ts");
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, false, ["sign", "verify"]);
  // Trust stores look an issuer up by its name: two sessions must not have the same.
  const subject = `CN=glovebox session ${randomBytes(8).toString("hex")}, O=glovebox`;
  const { KeyUsageFlags } = x509;
  const own = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity(),
    name: subject,
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });

  const certify = async (name: string): Promise<Certified> => {
    const leaf = await webcrypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
    const certificate = await x509.X509CertificateGenerator.create({
      ...validity(),
      // The name is in the extension alone: a common name has room for 64 characters.
      subject: "O=glovebox",
      issuer: subject,
      publicKey: leaf.publicKey,
      signingKey: keys.privateKey,
      signingAlgorithm: ALGORITHM,
      extensions: [
        new x509.SubjectAlternativeNameExtension([{ type: "dns", value: name }]),
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
        await x509.SubjectKeyIdentifierExtension.create(leaf.publicKey),
        await x509.AuthorityKeyIdentifierExtension.create(keys.publicKey),
      ],
    });
    return { key: pemOf(leaf.privateKey), cert: `${certificate.toString("pem")}\n` };
  };
  return { certificate: `${own.toString("pem")}\n`, certify: keeping(certify) };
}

function validity() {
  const now = Date.now();
  return { notBefore: new Date(now - BACKDATED_MS), notAfter: new Date(now + VALID_MS) };
}

function pemOf(key: webcrypto.CryptoKey): string {
  return KeyObject.from(key).export({ type: "pkcs8", format: "pem" }).toString();
}

/** Keeps what was made, the oldest no longer than there is room; what failed is tried anew. */
function keeping(make: (name: string) => Promise<Certified>): Authority["certify"] {
  const kept = new Map<string, Promise<Certified>>();
  return (name) => {
    const known = kept.get(name);
    if (known !== undefined) return known;
    const made = make(name);
    const [oldest] = kept.keys();
    if (kept.size >= MAX_KEPT && oldest !== undefined) kept.delete(oldest);
    kept.set(name, made);
    made.catch(() => kept.delete(name));
    return made;
  };
}
