import { readFileSync } from "node:fs";
import type { RefusedInside } from "../../core/outlet.ts";
import { headChars } from "../../core/truncate.ts";
import type { ToController } from "../../protocol/messages.ts";

type Taken = RefusedInside["taken"][number];
type Told = NonNullable<Extract<ToController, { type: "result" }>["refused"]>;

const MAX_TAKEN = 20;
const MAX_PROCESS_CHARS = 200;
const MAX_NAME_CHARS = 260;
const MAX_HELD = 100;
const MAX_QUESTIONS = 1000;

export type Telling = { begun: number; heldPorts: readonly number[]; isAdmitted: (name: string) => boolean };

/** What is refused here without asking anybody, from one result to the next. */
export class Refusals {
  readonly #unreachable: () => number;
  #taken = new Map<string, Taken>();
  #otherQuestions: string[] = [];
  #moreQuestions = 0;
  /** The counter when it was last told. */
  #told: number;

  /** `unreachable` is other than the kernel's counter in tests only. */
  constructor(unreachable: () => number = countUnreachable) {
    this.#unreachable = unreachable;
    this.#told = unreachable();
  }

  addOtherQuestion(name: string): void {
    if (this.#otherQuestions.length < MAX_QUESTIONS) this.#otherQuestions.push(name);
    else this.#moreQuestions++;
  }

  addTaken(taken: Taken): void {
    if (this.#taken.size >= MAX_TAKEN) return;
    this.#taken.set(`${taken.name} ${taken.port}`, taken);
  }

  /** The kernel's counter now. */
  count(): number {
    return this.#unreachable();
  }

  /**
   * What there is to tell with a result; undefined for nothing. Told once, and the counter from `begun` on. Questions for
   * other than addresses count where the name has none: programs ask them beside the address, and go on without.
   */
  tell({ begun, heldPorts, isAdmitted }: Telling): Told | undefined {
    const now = this.#unreachable();
    const unreachable = Math.max(0, now - Math.max(begun, this.#told));
    const told: Told = {
      unreachable,
      other_questions: this.#otherQuestions.filter((name) => !isAdmitted(name)).length + this.#moreQuestions,
      taken: [...this.#taken.values()].map(({ name, port, process }) => ({
        name: headChars(name, MAX_NAME_CHARS),
        port,
        process: headChars(process, MAX_PROCESS_CHARS),
      })),
      held_ports: heldPorts.slice(0, MAX_HELD),
    };
    this.#told = now;
    this.#otherQuestions = [];
    this.#moreQuestions = 0;
    this.#taken = new Map();
    const isNothing = unreachable + told.other_questions + told.taken.length + told.held_ports.length === 0;
    return isNothing ? undefined : told;
  }
}

/** What found no route: each attempt of TCP and each packet of UDP is counted (`ip_output.c`, `tcp_ipv4.c`). */
function countUnreachable(): number {
  return outNoRoutes(readOrNothing("/proc/net/snmp")) + outNoRoutes6(readOrNothing("/proc/net/snmp6"));
}

/** From a line of names and a line of numbers, both beginning with `Ip:`. */
export function outNoRoutes(snmp: string): number {
  const [names = [], values = []] = [...snmp.matchAll(/^Ip: (.*)$/gm)].map(([, fields = ""]) => fields.split(" "));
  return Number(values[names.indexOf("OutNoRoutes")] ?? 0) || 0;
}

/** From a line for each. */
export function outNoRoutes6(snmp6: string): number {
  return Number(/^Ip6OutNoRoutes\s+(\d+)/m.exec(snmp6)?.[1] ?? 0);
}

function readOrNothing(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}
