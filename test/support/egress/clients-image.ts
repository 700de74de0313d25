import { createHash } from "node:crypto";
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Engine } from "../../../src/sandbox/engine/engine.ts";
import { writeHostFolder } from "../../../src/sandbox/images/host.ts";
import { readPlan } from "../../../src/sandbox/images/plan.ts";
import { packageRoot } from "../engine.ts";
import { buildTestImage } from "../test-image.ts";

const PACKAGES = [
  ...["postgresql", "openssh-server", "openssh-client"],
  ...["python3-requests", "python3-websockets", "bind9-dnsutils", "wget", "netcat-openbsd"],
];

/**
 * The base image with clients of many kinds, and the servers they talk to. Kept under a name with the hash of what it is
 * made from, so that it is built once a version of the base image.
 */
export async function clientsImage(engine: Engine): Promise<string> {
  const plan = readPlan({ packageRoot, cacheDir: "", version: "" }, engine.architecture);
  const dockerfile = `FROM ${plan.baseRef}
LABEL glovebox.builder="" glovebox.image="" glovebox.kind=""
COPY host/ /tmp/host/
COPY with-apt.sh /tmp/
RUN sh /tmp/with-apt.sh apt-get install -y -q --no-install-recommends ${PACKAGES.join(" ")} && rm -f /etc/ssh/ssh_host_*
`;
  const name = `glovebox-test/clients:${createHash("sha256").update(dockerfile).digest("hex").slice(0, 12)}`;
  const isThere = await engine.docker
    .getImage(name)
    .inspect()
    .then(
      () => true,
      () => false,
    );
  if (isThere) return name;
  const folder = await mkdtemp(join(tmpdir(), "glovebox-clients-"));
  try {
    await copyFile(join(packageRoot, "images/base/with-apt.sh"), join(folder, "with-apt.sh"));
    await writeHostFolder(join(folder, "host"), plan.pins.debian.suite, plan.certificates);
    await writeFile(join(folder, "Dockerfile"), dockerfile);
    return await buildTestImage(engine.docker, name, { folder });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
