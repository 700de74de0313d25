import { execFile } from "node:child_process";
import { mkdir, readFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type Docker from "dockerode";
import type { Route } from "./dialler.ts";

/** A server in a throwaway container on the engine's own network, reached by the container's address. */
export class ServerContainer implements AsyncDisposable {
  readonly host: string;
  readonly port: number;
  readonly #container: Docker.Container;

  private constructor(container: Docker.Container, { host, port }: Route) {
    this.#container = container;
    this.host = host;
    this.port = port;
  }

  /** Resolves when the port answers. */
  static async start(docker: Docker, image: string, { script, port }: { script: string; port: number }) {
    const container = await docker.createContainer({
      Image: image,
      Cmd: ["sh", "-c", script],
      HostConfig: { AutoRemove: true, Init: true },
    });
    await container.start();
    const { NetworkSettings } = await container.inspect();
    const server = new ServerContainer(container, { host: NetworkSettings.Networks["bridge"]?.IPAddress ?? "", port });
    try {
      await untilAnswers(server);
      return server;
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#container.remove({ force: true }).catch(() => undefined);
  }
}

async function untilAnswers(route: Route): Promise<void> {
  for (const endMs = Date.now() + 60_000; ; await sleep(100)) {
    if (await answers(route)) return;
    if (Date.now() > endMs) throw new Error(`Nothing answers at ${route.host}:${route.port}`);
  }
}

function answers({ host, port }: Route): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 2_000 });
    const end = (is: boolean) => () => {
      socket.destroy();
      resolve(is);
    };
    socket.on("connect", end(true)).on("error", end(false)).on("timeout", end(false));
  });
}

/** A database that lets `glovebox` in without a password, with a table of one row. */
export function startPostgres(docker: Docker, image: string): Promise<ServerContainer> {
  const script = `set -e
bin=$(ls -d /usr/lib/postgresql/*/bin); mkdir -p /tmp/db /var/run/postgresql; chown postgres /tmp/db /var/run/postgresql
su postgres -c "$bin/initdb -D /tmp/db -A trust -U glovebox" >/dev/null
echo "host all all 0.0.0.0/0 trust" >> /tmp/db/pg_hba.conf
exec su postgres -c "$bin/postgres -D /tmp/db -c listen_addresses=* -c fsync=off"`;
  return ServerContainer.start(docker, image, { script, port: 5432 });
}

/** An ssh server that lets the owner of the key in as root, with a repository at `/srv/repo.git`. */
export function startSshd(docker: Docker, image: string, publicKey: string): Promise<ServerContainer> {
  const script = `set -e
mkdir -p /run/sshd /root/.ssh; echo '${publicKey.trim()}' > /root/.ssh/authorized_keys
ssh-keygen -q -t ed25519 -N '' -f /etc/ssh/ssh_host_ed25519_key
git init -q -b main /tmp/w; cd /tmp/w; echo hi > README; git add .
git -c user.name=t -c user.email=t@t.test commit -q -m first; git clone -q --bare . /srv/repo.git
exec /usr/sbin/sshd -D -e -o HostKey=/etc/ssh/ssh_host_ed25519_key`;
  return ServerContainer.start(docker, image, { script, port: 22 });
}

/** A pair of keys for ssh below `folder`; the private one's path is `folder/id`. */
export async function sshKey(folder: string): Promise<{ publicKey: string; privateKey: string }> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, "id");
  await promisify(execFile)("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", path]);
  return { publicKey: await readFile(`${path}.pub`, "utf8"), privateKey: await readFile(path, "utf8") };
}
