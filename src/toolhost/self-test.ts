import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { access, constants, lstat, mkdir, open, readdir, readFile, rmdir } from "node:fs/promises";
import { networkInterfaces } from "node:os";
import { promisify } from "node:util";
import { messageOf, systemCode } from "../core/errors.ts";
import { type MountPoint, mountAt, readMounts } from "../core/mount-points.ts";
import type { Control, SelfTestExpectation } from "../protocol/messages.ts";
import type { Host } from "./context.ts";

/**
 * Looks at the wall from inside and says of each control whether it holds, with what was seen. Runs as the agent's own
 * user, before any of its commands.
 */
export async function selfTest(host: Host, expect: SelfTestExpectation): Promise<Control[]> {
  try {
    return await lookAtAll(host, expect);
  } catch (error) {
    return [{ control: "self_test", holds: false, evidence: messageOf(error) }];
  }
}

async function lookAtAll(host: Host, expect: SelfTestExpectation): Promise<Control[]> {
  const mounts = await readMounts();
  const groups = await Promise.all([
    processControls(expect),
    networkControls(),
    [rootControl(mounts)],
    Promise.all(expect.readonly.map((path) => readonlyControl(path, { mounts, planned: plannedPaths(expect) }))),
    Promise.all(expect.hidden.map((path) => hiddenControl(path, mounts))),
    expect.pinned.map((path) => pinnedControl(path, mounts)),
    Promise.all(expect.writable.map(writableControl)),
    [await reachableControl(host.hello.root)],
    [secretControl(host, expect)],
    limitControls(expect),
    [await channelControl(expect)],
  ]);
  return groups.flat();
}

const NO_CAPABILITIES = "0000000000000000";

async function processControls({ uid, gid }: SelfTestExpectation): Promise<Control[]> {
  const status = await readFile("/proc/self/status", "utf8");
  const field = (name: string): string => new RegExp(`^${name}:\\s*(.*)$`, "m").exec(status)?.[1] ?? "absent";
  const sets = ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"].map((name) => ({ name, value: field(name) }));
  const held = sets.filter(({ value }) => value !== NO_CAPABILITIES);
  const identity = `${process.getuid?.()}:${process.getgid?.()}`;
  return [
    {
      control: "capabilities",
      holds: held.length === 0,
      evidence: held.map(({ name, value }) => `${name} ${value}`).join(", ") || "all sets are zero",
    },
    { control: "no_new_privileges", holds: field("NoNewPrivs") === "1", evidence: `NoNewPrivs ${field("NoNewPrivs")}` },
    { control: "seccomp", holds: field("Seccomp") === "2", evidence: `Seccomp ${field("Seccomp")}` },
    { control: "user", holds: identity === `${uid}:${gid}`, evidence: identity },
  ];
}

/** Kernels create idle devices such as `tunl0` in every network namespace: what counts is an address or a route. */
async function networkControls(): Promise<Control[]> {
  const addresses = Object.entries(networkInterfaces())
    .filter(([name]) => name !== "lo")
    .map(([name, infos]) => `${name} ${infos?.map((info) => info.address).join(" ")}`);
  const routes = [
    ...(await routesBesideLo("/proc/net/route", 0)),
    ...(await routesBesideLo("/proc/net/ipv6_route", 9)),
  ];
  return [
    { control: "interfaces", holds: addresses.length === 0, evidence: addresses.join(", ") || "only lo" },
    { control: "routes", holds: routes.length === 0, evidence: routes.join(", ") || "none but to lo" },
  ];
}

async function routesBesideLo(file: string, deviceColumn: number): Promise<string[]> {
  // The file is absent where the kernel has no such protocol, which is as good as no route.
  const text = await readFile(file, "utf8").catch(() => "");
  return text
    .split("\n")
    .map((line) => line.trim().split(/\s+/)[deviceColumn] ?? "")
    .filter((device) => device !== "" && device !== "lo" && device !== "Iface");
}

function rootControl(mounts: readonly MountPoint[]): Control {
  const root = mountAt(mounts, "/");
  return {
    control: "root_read_only",
    holds: root?.readOnly === true,
    evidence: root ? `/ is ${root.options}` : "no mount at /",
  };
}

type MountTable = { mounts: readonly MountPoint[]; planned: ReadonlySet<string> };

function plannedPaths({ readonly, hidden, pinned }: SelfTestExpectation): ReadonlySet<string> {
  return new Set([...readonly, ...hidden, ...pinned]);
}

/** What is mounted below a read-only path, and was not planned, keeps its own mode. */
async function readonlyControl(path: string, { mounts, planned }: MountTable): Promise<Control> {
  const mount = mountAt(mounts, path);
  const refused = await refusal(() => tryToWrite(path));
  const open = mounts.filter((one) => one.path.startsWith(`${path}/`) && !one.readOnly && !planned.has(one.path));
  const seen = mount ? mount.options : "no mount of its own";
  return {
    control: `read_only ${path}`,
    holds: mount?.readOnly === true && refused !== undefined && open.length === 0,
    evidence: `${[seen, ...open.map((one) => `writable below it: ${one.path}`)].join(", ")}; a write gives ${refused ?? "no error"}`,
  };
}

async function hiddenControl(path: string, mounts: readonly MountPoint[]): Promise<Control> {
  const mount = mountAt(mounts, path);
  const content = await contentOf(path);
  return {
    control: `hidden ${path}`,
    holds: mount?.readOnly === true && content === "empty",
    evidence: `${mount ? mount.options : "no mount of its own"}; ${content}`,
  };
}

async function contentOf(path: string): Promise<string> {
  const info = await lstat(path);
  if (info.isFile()) return info.size === 0 ? "empty" : `${info.size} bytes`;
  if (!info.isDirectory()) return "neither a file nor a folder";
  const { length } = await readdir(path);
  return length === 0 ? "empty" : `${length} entries`;
}

function pinnedControl(path: string, mounts: readonly MountPoint[]): Control {
  const mount = mountAt(mounts, path);
  return {
    control: `pinned ${path}`,
    holds: mount !== undefined,
    evidence: mount ? `a mount point, ${mount.options}` : "no mount of its own",
  };
}

/** The positive control: where nothing at all can be written, a refused write proves nothing. */
async function writableControl(path: string): Promise<Control> {
  const refused = await refusal(() => access(path, constants.W_OK));
  return { control: `writable ${path}`, holds: refused === undefined, evidence: refused ?? "writable" };
}

/** A folder of the image above the workspace, such as `/root`, may be closed to the agent's user. */
async function reachableControl(root: string): Promise<Control> {
  const refused = await refusal(() => access(root, constants.R_OK | constants.X_OK));
  return { control: "workspace_reachable", holds: refused === undefined, evidence: refused ?? root };
}

async function tryToWrite(path: string): Promise<void> {
  const probe = `${path}/.glovebox-self-test`;
  try {
    await mkdir(probe);
    await rmdir(probe);
  } catch (error) {
    if (systemCode(error) !== "ENOTDIR") throw error;
    await (await open(path, constants.O_WRONLY | constants.O_NONBLOCK)).close();
  }
}

async function refusal(act: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await act();
    return undefined;
  } catch (error) {
    return systemCode(error) ?? messageOf(error);
  }
}

function secretControl({ hello }: Host, { secretHashes }: SelfTestExpectation): Control {
  const known = new Set(secretHashes);
  // biome-ignore lint/style/noProcessEnv: this looks at the tool host's own environment for what must not be there
  const names = Object.entries({ ...process.env, ...hello.env }).flatMap(([name, value]) =>
    known.has(
      createHash("sha256")
        .update(value ?? "")
        .digest("hex"),
    )
      ? [name]
      : [],
  );
  return { control: "no_secret_in_environment", holds: names.length === 0, evidence: names.join(", ") || "none found" };
}

async function limitControls({ pidsMax, memoryMaxBytes }: SelfTestExpectation): Promise<Control[]> {
  const pids = await firstOf(["/sys/fs/cgroup/pids.max", "/sys/fs/cgroup/pids/pids.max"]);
  const memory = await firstOf(["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"]);
  const atMost = (seen: string, limit: number): boolean => /^\d+$/.test(seen) && Number(seen) <= limit;
  return [
    { control: "pids_limit", holds: atMost(pids, pidsMax), evidence: pids },
    { control: "memory_limit", holds: atMost(memory, memoryMaxBytes), evidence: memory },
  ];
}

async function firstOf(files: readonly string[]): Promise<string> {
  for (const file of files) {
    const text = await readFile(file, "utf8").catch(() => undefined);
    if (text !== undefined) return text.trim();
  }
  return "not readable";
}

/**
 * A program of the agent's user tries what a hostile command would: to reach into the tool host's descriptors and
 * memory, through which it could write frames of its own. It opens its own memory as a positive control.
 */
async function channelControl({ probe }: SelfTestExpectation): Promise<Control> {
  const targets = ["fd/0", "fd/1", "mem", "environ", "maps"].map((name) => `/proc/${process.pid}/${name}`);
  const { stdout } = await promisify(execFile)(probe, targets, { env: {}, timeout: 5_000 });
  const reached = stdout.trim().split("\n");
  return {
    control: "channel_out_of_reach",
    holds: reached.length === 1 && reached[0] === "self",
    evidence: `a command can open: ${reached.join(", ") || "nothing, not even its own memory"}`,
  };
}
