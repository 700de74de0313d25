import type Docker from "dockerode";
import { describe, expect, it } from "vitest";
import { createOptions, pidsLimit, temporarySizes } from "../../src/sandbox/container-spec.ts";
import { sampleSpec } from "./sandbox-fixture.ts";

const options = createOptions(sampleSpec());
const host = options.HostConfig ?? {};
const bind = (source: string, target: string, readOnly: boolean): Docker.MountSettings => ({
  Type: "bind",
  Source: source,
  Target: target,
  ReadOnly: readOnly,
  BindOptions: { Propagation: "rprivate" },
});

describe("the container", () => {
  it.each<[string, unknown, unknown]>([
    ["has no network", host.NetworkMode, "none"],
    [
      "asks nobody but itself for names",
      [host.Dns, host.DnsSearch, host.DnsOptions],
      [["127.0.0.1"], ["."], ["ndots:0"]],
    ],
    ["knows its own name", [options.Hostname, host.ExtraHosts], ["glovebox", ["glovebox:127.0.0.1"]]],
    [
      "may bind low ports and ::1, by namespaced settings only",
      host.Sysctls,
      {
        "net.ipv4.ip_unprivileged_port_start": "0",
        "net.ipv6.conf.all.disable_ipv6": "0",
        "net.ipv6.conf.lo.disable_ipv6": "0",
      },
    ],
    ["has no capability", [host.CapDrop, host.CapAdd, host.Privileged], [["ALL"], [], false]],
    [
      "gains no privilege by setuid, and makes the system calls of our profile only",
      host.SecurityOpt,
      ["no-new-privileges:true", "seccomp={}"],
    ],
    ["has a read-only root", host.ReadonlyRootfs, true],
    ["shares no memory with others", host.IpcMode, "private"],
    ["sees its own cgroups only", Reflect.get(host, "CgroupnsMode"), "private"],
    ["shares no process or name namespace", [host.PidMode, host.UTSMode], ["", ""]],
    ["reaps its orphans", host.Init, true],
    ["has no device", host.Devices, []],
    ["joins no group", host.GroupAdd, []],
    ["is kept up by a user that owns nothing", options.User, "65532:65532"],
    [
      "runs our idle program, whatever the image starts",
      [options.Entrypoint, options.Cmd],
      [["/opt/glovebox/bin/idle"], ["idle"]],
    ],
    ["has no health check", options.Healthcheck, { Test: ["NONE"] }],
    ["does not use the image's working directory", options.WorkingDir, "/"],
    ["removes each variable of the image by its name", options.Env, ["PATH", "LD_PRELOAD", "EMPTY"]],
    ["writes no log on the host", host.LogConfig, { Type: "none", Config: {} }],
    ["is never started again by the engine", host.RestartPolicy, { Name: "no" }],
    ["has memory and no swap beyond it", [host.Memory, host.MemorySwap], [4 * 1024 ** 3, 4 * 1024 ** 3]],
    ["has a share of the processors", host.NanoCpus, 1.5e9],
    ["has a limit on processes, with room for our own", host.PidsLimit, 544],
    [
      "leaves no core file, and opens so many files",
      host.Ulimits,
      [
        { Name: "core", Soft: 1, Hard: 1 },
        { Name: "nofile", Soft: 16_384, Hard: 16_384 },
      ],
    ],
    ["is asked to end by a signal that cannot be ignored", options.StopSignal, "SIGKILL"],
    ["has no terminal and no stdin", [options.Tty, options.OpenStdin, options.AttachStdin], [false, false, false]],
    ["is labelled as ours", options.Labels, { glovebox: "0.0.0", "glovebox.session": "s" }],
    ["is made from an image by its id", options.Image, "sha256:abc"],
    ["has a name of its own", options.name, "glovebox-sample"],
  ])("%s", (_, seen, expected) => {
    expect(seen).toEqual(expected);
  });

  it("mounts the workspace by objects, so that every name works, then what is ours", () => {
    expect(host.Mounts?.slice(0, 4)).toEqual([
      bind("/home/ann/re:po, x", "/home/ann/re:po, x", false),
      bind("/home/ann/re:po, x/.git", "/home/ann/re:po, x/.git", true),
      bind("/c/passwd", "/etc/passwd", true),
      bind("/c/group", "/etc/group", true),
    ]);
  });

  it("covers what is hidden by an empty file or folder, read-only", () => {
    expect(host.Mounts?.slice(4, 6)).toEqual([
      bind("/c/empty", "/home/ann/re:po, x/.env", true),
      {
        Type: "tmpfs",
        Source: "",
        Target: "/home/ann/re:po, x/secrets",
        ReadOnly: true,
        TmpfsOptions: { SizeBytes: 4096, Mode: 0o555 },
      },
    ]);
  });

  it("mounts the runtime read-only and gives the image's volumes volumes of ours, none anonymous", () => {
    expect(
      host.Mounts?.slice(6).map(({ Type, Source, Target, ReadOnly, VolumeOptions }) => ({
        Type,
        Source,
        Target,
        ReadOnly,
        copies: VolumeOptions?.NoCopy,
      })),
    ).toEqual([
      { Type: "volume", Source: "glovebox-runtime-1", Target: "/opt/glovebox", ReadOnly: true, copies: true },
      { Type: "volume", Source: "glovebox-sample-0", Target: "/data", ReadOnly: false, copies: false },
    ]);
    expect(options.Volumes).toBeUndefined();
  });

  it("has sized temporary file systems of the agent's user, and programs may run in /tmp and HOME only", () => {
    expect(host.Tmpfs).toEqual({
      "/tmp": "rw,exec,nosuid,nodev,size=1073741824,mode=1777,uid=1000,gid=1001",
      "/home/glovebox": "rw,exec,nosuid,nodev,size=536870912,mode=0700,uid=1000,gid=1001",
      "/run": "rw,noexec,nosuid,nodev,size=268435456,mode=0755,uid=1000,gid=1001",
      "/dev/shm": "rw,noexec,nosuid,nodev,size=67108864,mode=1777,uid=1000,gid=1001",
      "/more": "rw,exec,nosuid,nodev,size=268435456,mode=0755,uid=1000,gid=1001",
    });
  });

  it("sets nothing else on the host", () => {
    expect(Object.keys(host).sort()).toEqual(
      [
        ...["CapAdd", "CapDrop", "CgroupnsMode", "Devices", "Dns", "DnsOptions", "DnsSearch", "ExtraHosts", "GroupAdd"],
        ...["Init", "IpcMode", "LogConfig", "Memory", "MemorySwap", "Mounts", "NanoCpus", "NetworkMode", "PidMode"],
        ...["PidsLimit", "Privileged", "ReadonlyRootfs", "RestartPolicy", "SecurityOpt", "Sysctls", "Tmpfs", "UTSMode"],
        "Ulimits",
      ].sort(),
    );
  });

  it("leaves out the cgroup namespace where the engine has none", () => {
    expect(createOptions(sampleSpec({ privateCgroup: false })).HostConfig).not.toHaveProperty("CgroupnsMode");
  });

  it("is left alone by SELinux, which would keep it from the workspace", () => {
    expect(createOptions(sampleSpec({ selinux: true })).HostConfig?.SecurityOpt).toEqual([
      "no-new-privileges:true",
      "seccomp={}",
      "label=disable",
    ]);
  });

  it("keeps temporary file systems within half of the memory", () => {
    const limits = { cpus: 1, memoryBytes: 512 * 1024 ** 2, pids: 10, tmpBytes: 1024 ** 3 };
    const total = Object.values(temporarySizes(limits)).reduce((sum, size) => sum + size, 0);
    expect(total).toBeLessThanOrEqual(256 * 1024 ** 2);
    expect(pidsLimit(limits)).toBe(42);
  });
});
