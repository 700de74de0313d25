import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Hello } from "../../../src/protocol/messages.ts";
import { withCertificates } from "../../../src/toolhost/egress/certificates.ts";
import { Workspace } from "./fixture.ts";

describe("certificates of a session", () => {
  let workspace: Workspace;
  let folder: string;
  let hello: Hello;
  beforeEach(() => {
    workspace = new Workspace();
    folder = workspace.base;
    hello = { ...workspace.host.hello, env: { PATH: "/bin", PIP_CERT: "/mine.pem" } };
  });
  afterEach(() => workspace.remove());

  it("leave everything as it is where there are none", () => {
    expect(withCertificates(hello)).toBe(hello);
    expect(withCertificates({ ...hello, egress: { forwards: [] } }).env).toEqual(hello.env);
  });

  it("are trusted beside those of the image, by every variable that is not set already", () => {
    writeFileSync(join(folder, "image.pem"), "IMAGE");
    const bundles = [join(folder, "none.pem"), join(folder, "image.pem"), "/etc/hostname"];
    const { env } = withCertificates({ ...hello, egress: { forwards: [], certificates: "SESSION" } }, bundles);
    const all = join(hello.state, "certificates.pem");
    const own = join(hello.state, "session-certificates.pem");
    expect(env).toEqual({
      PATH: "/bin",
      SSL_CERT_FILE: all,
      CURL_CA_BUNDLE: all,
      REQUESTS_CA_BUNDLE: all,
      PIP_CERT: "/mine.pem",
      GIT_SSL_CAINFO: all,
      CARGO_HTTP_CAINFO: all,
      AWS_CA_BUNDLE: all,
      NODE_EXTRA_CA_CERTS: own,
      DENO_CERT: own,
      WGETRC: join(hello.state, "wgetrc"),
    });
    expect([readFileSync(all, "utf8"), readFileSync(own, "utf8")]).toEqual(["IMAGE\nSESSION", "SESSION"]);
    expect(statSync(all).mode & 0o777).toBe(0o600);
  });

  it("take the place of the image's own where a variable of the image names those", () => {
    const bundle = join(folder, "image.pem");
    const env = { REQUESTS_CA_BUNDLE: bundle, MINE: bundle };
    const asked = { ...hello, env, egress: { forwards: [], certificates: "SESSION" } };
    const all = join(hello.state, "certificates.pem");
    expect(withCertificates(asked, [bundle]).env).toMatchObject({ REQUESTS_CA_BUNDLE: all, MINE: bundle });
  });

  it("are alone where the image has no bundle", () => {
    withCertificates({ ...hello, egress: { forwards: [], certificates: "SESSION" } }, []);
    expect(readFileSync(join(hello.state, "certificates.pem"), "utf8")).toBe("\nSESSION");
  });

  it("are trusted where the image only names its own authorities, as the base image does for Python", () => {
    const bundle = join(folder, "image.pem");
    writeFileSync(bundle, "IMAGE");
    const said = { REQUESTS_CA_BUNDLE: bundle, PIP_CERT: "/workspace/mine.pem" };
    const { env } = withCertificates({ ...hello, env: said, egress: { forwards: [], certificates: "SESSION" } }, [
      bundle,
    ]);
    expect(readFileSync(env["REQUESTS_CA_BUNDLE"] ?? "", "utf8")).toBe("IMAGE\nSESSION");
    expect(env["PIP_CERT"]).toBe("/workspace/mine.pem");
  });
});
