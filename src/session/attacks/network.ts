import { networkInterfaces } from "node:os";
import { socketAddress, unixAddress } from "./addresses.ts";
import type { Attack, Step } from "./attack.ts";
import { ALIVE, calls, control, fact, shell } from "./steps.ts";

const NO_WAY = "ENETUNREACH EHOSTUNREACH EADDRNOTAVAIL";
const NOBODY = "ECONNREFUSED ENETUNREACH EADDRNOTAVAIL";
const SOCKETS = control(calls("ok", "own socket 2 1 0", "own socket 2 2 0", "own socket 10 1 0"));
const ANSWERS = control(fact("the host itself reaches its servers", ({ scene }) => scene.listeners.answer(), /^true$/));

/** Ways out by the network, and to what the host's own user has. */
export const NETWORK_ATTACKS: Attack[] = [
  {
    id: "N-05",
    title: "A TCP connection out",
    steps: () => [SOCKETS, tcp(NO_WAY, ["1.1.1.1", 443], ["9.9.9.9", 80], ["93.184.216.34", 22])],
  },
  { id: "N-07", title: "UDP out", steps: () => [SOCKETS, udp(NO_WAY, ["8.8.8.8", 443], ["1.1.1.1", 123])] },
  {
    id: "N-09",
    title: "ICMP out",
    steps: () => [
      SOCKETS,
      calls(
        `${NO_WAY} EPERM EACCES`,
        "own socket 2 3 1",
        `own socket 2 2 1; own sendto $1 %0800f7ff00000000 8 0 ${socketAddress("8.8.8.8", 0)}`,
      ),
    ],
  },
  {
    id: "N-10",
    title: "A connection to an IPv6 address",
    steps: () => [
      SOCKETS,
      ...["2606:4700:4700::1111", "fe80::1", "fd00::1", "64:ff9b::808:808"].map((address) =>
        calls(`${NO_WAY} EINVAL`, `own socket 10 1 0; own connect $1 ${socketAddress(address, 443)}`),
      ),
    ],
  },
  {
    id: "N-11",
    title: "Name servers asked: by configuration, or well-known ones",
    steps: () => [
      SOCKETS,
      udp(NO_WAY, ["8.8.8.8", 53], ["9.9.9.9", 53], ["1.1.1.1", 53], ["208.67.222.222", 53]),
      shell(
        "while read -r line; do echo $line; done </etc/resolv.conf",
        /^ok(?!.*nameserver (?!127\.))/s,
        "no name server configured",
      ),
    ],
  },
  {
    id: "N-40",
    title: "A server on the host's loopback",
    steps: ({ scene }) => [
      ANSWERS,
      SOCKETS,
      tcp(
        NOBODY,
        ["127.0.0.1", scene.listeners.port],
        ["127.0.0.2", scene.listeners.port],
        ["0.0.0.0", scene.listeners.port],
      ),
      calls(NOBODY, `own socket 10 1 0; own connect $1 ${socketAddress("::1", scene.listeners.port)}`),
    ],
  },
  {
    id: "N-41",
    title: "The host by its own addresses and the bridge's",
    steps: () => [
      SOCKETS,
      tcp(
        NO_WAY,
        ...hostAddresses().map((address): Place => [address, 22]),
        ["172.17.0.1", 2375],
        ["192.168.65.2", 80],
      ),
    ],
  },
  {
    id: "N-43",
    title: "A cloud's metadata service",
    steps: () => [
      SOCKETS,
      tcp(NO_WAY, ["169.254.169.254", 80], ["169.254.170.2", 80], ["100.100.100.200", 80]),
      calls(NO_WAY, `own socket 10 1 0; own connect $1 ${socketAddress("fd00:ec2::254", 80)}`),
    ],
  },
  {
    id: "N-44",
    title: "Private networks, multicast, broadcast",
    steps: () => [
      SOCKETS,
      tcp(NO_WAY, ["10.0.0.1", 80], ["172.16.0.1", 80], ["192.168.1.1", 80], ["100.64.0.1", 80], ["198.18.0.1", 80]),
      udp(`${NO_WAY} EACCES`, ["224.0.0.251", 5353], ["255.255.255.255", 67]),
    ],
  },
  {
    id: "C-02",
    title: "The environment of the controller",
    steps: ({ policy }) => {
      const given = [...policy.env.pass, ...policy.env.set].map(({ value }) => value.split("=")[0]);
      const names = ["GLOVEBOX_ATTACK_SECRET", ...OWN_VARIABLES.filter((name) => !given.includes(name))];
      return [
        control(shell("echo $HOME", /^ok: \/home\/glovebox/)),
        shell("export -p", new RegExp(`^ok(?!.*(${names.join("|")})=)`, "s"), "not in it"),
      ];
    },
  },
  {
    id: "P-03",
    title: "The sockets of container engines",
    steps: () => [
      control(calls("ok", "own socket 1 1 0")),
      ...ENGINE_SOCKETS.map((path) =>
        calls(
          "ENOENT EACCES",
          `own socket 1 1 0; own connect $1 ${unixAddress(path)}`,
          `own faccessat -100 =${path} 0`,
        ),
      ),
    ],
  },
  {
    id: "P-17",
    title: "A server of the host by its abstract name",
    impossible: ({ scene }) =>
      scene.listeners.abstractName === undefined ? "this system has no abstract names" : undefined,
    steps: ({ scene }) => [
      ANSWERS,
      calls("ECONNREFUSED", `own socket 1 1 0; own connect $1 ${unixAddress(`\0${scene.listeners.abstractName}`)}`),
      ALIVE,
    ],
  },
];

/** Variables that lead to agents and accounts of the person. */
const OWN_VARIABLES = ["SSH_AUTH_SOCK", "GPG_AGENT_INFO", "DOCKER_HOST", "KUBECONFIG", "AWS_PROFILE", "NETRC"];

const ENGINE_SOCKETS = [
  "/var/run/docker.sock",
  "/run/containerd/containerd.sock",
  "/run/podman/podman.sock",
  "/run/crio/crio.sock",
  "/run/systemd/private",
  "/run/dbus/system_bus_socket",
];

type Place = [address: string, port: number];

function tcp(gives: string, ...places: Place[]): Step {
  return calls(gives, ...places.map((place) => `own socket 2 1 0; own connect $1 ${socketAddress(...place)}`));
}

function udp(gives: string, ...places: Place[]): Step {
  return calls(gives, ...places.map((place) => `own socket 2 2 0; own sendto $1 =x 1 0 ${socketAddress(...place)}`));
}

function hostAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((infos) => infos ?? []);
  return all.flatMap(({ family, internal, address }) => (family === "IPv4" && !internal ? [address] : [])).slice(0, 8);
}
