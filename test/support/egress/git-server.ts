import { execFile, spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A bare repository with one commit below `folder`, called `repo.git`. */
export async function createRepository(folder: string): Promise<void> {
  const [work, bare] = [join(folder, "work"), join(folder, "repo.git")];
  await mkdir(work, { recursive: true });
  await writeFile(join(work, "README"), "a repository\n");
  const git = (...args: string[]) =>
    run("git", ["-c", "user.name=t", "-c", "user.email=t@t.test", ...args], { cwd: work, env: cleanEnv() });
  await git("init", "-q", "-b", "main");
  await git("add", ".");
  await git("commit", "-q", "-m", "first");
  await run("git", ["clone", "-q", "--bare", work, bare], { env: cleanEnv() });
  await run("git", ["-C", bare, "config", "http.receivepack", "true"], { env: cleanEnv() });
}

function cleanEnv(): NodeJS.ProcessEnv {
  return { PATH: process.env["PATH"], HOME: "/nonexistent", GIT_CONFIG_NOSYSTEM: "1" };
}

/** Serves the repositories below `folder` at `prefix`, as `git http-backend` does (git-http-backend(1)). */
export function gitHandler(folder: string, prefix: string) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    const url = new URL(request.url ?? "/", "http://site");
    const env = {
      ...cleanEnv(),
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: "1",
      REMOTE_USER: "tester",
      REQUEST_METHOD: request.method,
      QUERY_STRING: url.search.slice(1),
      PATH_INFO: url.pathname.slice(prefix.length),
      CONTENT_TYPE: request.headers["content-type"] ?? "",
      HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
      HTTP_GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
    };
    const child = spawn("git", ["http-backend"], { env, stdio: ["pipe", "pipe", "ignore"] });
    request.pipe(child.stdin.on("error", () => undefined));
    passOn(child.stdout, response);
  };
}

/** The output of a CGI program: headers, an empty line, the body. */
function passOn(output: NodeJS.ReadableStream, response: ServerResponse): void {
  let head = Buffer.alloc(0);
  let isHead = true;
  output.on("data", (chunk: Buffer) => {
    if (!isHead) return void response.write(chunk);
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf("\r\n\r\n");
    if (end < 0) return;
    isHead = false;
    const headers = head.toString("latin1", 0, end).split("\r\n");
    const pairs = headers.map((line) => line.split(/: */, 2) as [string, string]);
    const status = pairs.find(([name]) => name.toLowerCase() === "status")?.[1] ?? "200";
    response.writeHead(Number.parseInt(status, 10), Object.fromEntries(pairs));
    response.write(head.subarray(end + 4));
  });
  output.on("end", () => response.end());
}
