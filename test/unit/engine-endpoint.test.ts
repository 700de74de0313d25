import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { GloveboxError } from "../../src/core/errors.ts";
import { defaultSockets, findCandidates, formatAddress, parseAddress } from "../../src/sandbox/engine/endpoint.ts";
import { parseFacts } from "../../src/sandbox/engine/facts.ts";
import { defaultsFailure, namedFailure } from "../../src/sandbox/engine/failure.ts";

describe("parseAddress", () => {
  it.each([
    ["unix:///run/x.sock", { type: "unix", path: "/run/x.sock" }],
    ["tcp://10.0.0.1", { type: "tcp", host: "10.0.0.1", port: 2375, tlsDir: undefined, verify: true }],
    ["tcp://[::1]:1234", { type: "tcp", host: "::1", port: 1234, tlsDir: undefined, verify: true }],
    ["ssh://me@build.test", { type: "ssh", host: "build.test", port: 22, username: "me" }],
    ["ssh://build.test:2222", { type: "ssh", host: "build.test", port: 2222, username: undefined }],
  ])("reads %s", (text, expected) => {
    expect(parseAddress(text, "DOCKER_HOST")).toEqual(expected);
  });

  it.each(["", "unix://", "unix://relative", "ftp://host", "nonsense"])("refuses `%s`", (text) => {
    expect(() => parseAddress(text, "DOCKER_HOST")).toThrow(GloveboxError);
  });

  it("is undone by formatAddress", () => {
    const texts = ["tcp://[::1]:1234", "ssh://me@build.test:22", "tcp://10.0.0.1:2375"];
    expect(texts.map((text) => formatAddress(parseAddress(text, "")))).toEqual(texts);
  });
});

describe("findCandidates", () => {
  let home: string;

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), "glovebox-context-"));
  });
  afterEach(() => rm(home, { recursive: true, force: true }));

  async function writeContext(configDir: string, name: string, endpoint: Record<string, unknown>) {
    const id = createHash("sha256").update(name).digest("hex");
    const folder = join(configDir, "contexts/meta", id);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "meta.json"), JSON.stringify({ Name: name, Endpoints: { docker: endpoint } }));
    return id;
  }

  it("takes DOCKER_HOST before any context", async () => {
    const env = { DOCKER_HOST: "unix:///a.sock", DOCKER_CONTEXT: "work" };
    expect(await findCandidates(env, home)).toEqual({
      type: "named",
      by: "DOCKER_HOST",
      address: { type: "unix", path: "/a.sock" },
    });
  });

  it("reads DOCKER_CERT_PATH for a TLS host", async () => {
    const env = { DOCKER_HOST: "tcp://h.test:2376", DOCKER_TLS_VERIFY: "1", DOCKER_CERT_PATH: "/certs" };
    expect(await findCandidates(env, home)).toEqual({
      type: "named",
      by: "DOCKER_HOST",
      address: { type: "tcp", host: "h.test", port: 2376, tlsDir: "/certs", verify: true },
    });
  });

  it("follows the current context of the docker configuration", async () => {
    const configDir = join(home, ".docker");
    await writeContext(configDir, "colima", { Host: "unix:///colima.sock" });
    await writeFile(join(configDir, "config.json"), JSON.stringify({ currentContext: "colima" }));
    expect(await findCandidates({}, home)).toEqual({
      type: "named",
      by: "Docker context `colima`",
      address: { type: "unix", path: "/colima.sock" },
    });
  });

  it("takes the certificates of a TLS context from DOCKER_CONFIG", async () => {
    const configDir = join(home, "elsewhere");
    const id = await writeContext(configDir, "remote", { Host: "tcp://h.test:2376", SkipTLSVerify: true });
    const tlsDir = join(configDir, "contexts/tls", id, "docker");
    await mkdir(tlsDir, { recursive: true });
    await writeFile(join(tlsDir, "ca.pem"), "");
    const env = { DOCKER_CONFIG: configDir, DOCKER_CONTEXT: "remote" };
    expect(await findCandidates(env, home)).toEqual({
      type: "named",
      by: "Docker context `remote`",
      address: { type: "tcp", host: "h.test", port: 2376, tlsDir, verify: false },
    });
  });

  it("falls back to the default sockets without a configuration", async () => {
    const paths = defaultSockets({ XDG_RUNTIME_DIR: "/run/user/7" }, home);
    expect(paths).toEqual([
      "/var/run/docker.sock",
      "/run/user/7/docker.sock",
      `${home}/.docker/run/docker.sock`,
      `${home}/.docker/desktop/docker.sock`,
      "/run/user/7/podman/podman.sock",
      "/run/podman/podman.sock",
    ]);
    const found = await findCandidates({ DOCKER_CONTEXT: "default" }, home);
    expect(found.type).toBe("defaults");
  });
});

describe("failures", () => {
  const at = (path: string, code: string) => ({
    address: { type: "unix" as const, path },
    cause: Object.assign(new Error(code), { code }),
  });
  const context = { uid: 1000, platform: "linux" as const };

  it("say that a socket may not be opened, before those that are absent", () => {
    const error = defaultsFailure([at("/a", "ENOENT"), at("/b", "EACCES")], context);
    expect([error.code, error.message]).toEqual([
      "ENGINE_FORBIDDEN",
      "The engine's socket `/b` may not be opened by uid 1000",
    ]);
  });

  it("say that a stale socket has nobody behind it", () => {
    const error = defaultsFailure([at("/a", "ECONNREFUSED"), at("/b", "ENOENT")], context);
    expect([error.code, error.message]).toEqual([
      "ENGINE_UNREACHABLE",
      "The engine's socket `/a` is there, but no engine answers behind it: connection refused",
    ]);
  });

  it("list what was tried when there is nothing", () => {
    const error = defaultsFailure([at("/a", "ENOENT"), at("/b", "ENOENT")], { ...context, uid: 0 });
    expect(error.message).toBe("No container engine was found, tried `/a`, `/b`");
    expect(error.hint).toContain("npm run demo");
  });

  it("name the host that was asked for", () => {
    const error = namedFailure("DOCKER_HOST", at("/a", "EACCES"), context);
    expect([error.code, error.message]).toEqual([
      "ENGINE_FORBIDDEN",
      "DOCKER_HOST (`/a`) may not be opened by uid 1000",
    ]);
  });
});

describe("parseFacts", () => {
  const info = { Architecture: "x86_64", OSType: "linux" };

  it("recognises rootless, remapped and SELinux engines", () => {
    const SecurityOptions = ["name=seccomp,profile=default", "name=rootless", "name=userns", "name=selinux"];
    const facts = parseFacts({}, { ...info, SecurityOptions });
    expect([facts.isRootless, facts.isRemapped, facts.hasSelinux]).toEqual([true, true, true]);
  });

  it("recognises Podman by its header", () => {
    expect(parseFacts({ "libpod-api-version": "5.0.0" }, info).isPodman).toBe(true);
  });

  it("refuses an architecture that nothing is built for", () => {
    expect(() => parseFacts({}, { Architecture: "riscv64" })).toThrow(GloveboxError);
  });
});
