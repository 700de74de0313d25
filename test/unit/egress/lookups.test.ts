import { describe, expect, it } from "vitest";
import { Lookups } from "../../../src/egress/dial/lookups.ts";

const never = new AbortController().signal;
const SILENT = "the name service of this machine does not answer";

/** A name service of which each lookup ends when a test says so. */
class NameService {
  readonly asked: string[] = [];
  readonly #open = new Map<string, { answer: () => void; fail: () => void }>();

  lookup = (name: string): Promise<readonly string[]> => {
    this.asked.push(name);
    return new Promise((resolve, reject) => {
      const fail = () => reject(Object.assign(new Error("no"), { code: "EAI_AGAIN" }));
      this.#open.set(name, { answer: () => resolve([`address of ${name}`]), fail });
    });
  };

  answer(name: string): void {
    this.#open.get(name)?.answer();
  }

  fail(name: string): void {
    this.#open.get(name)?.fail();
  }

  /** Until lookups were started of these and no other names. */
  async untilAsked(...names: string[]): Promise<void> {
    await expect.poll(() => this.asked, { timeout: 10_000 }).toEqual(names);
  }
}

const settled = () => new Promise(setImmediate);

describe("lookups of names that strangers choose", () => {
  it("are one for all who ask for the same name at the same time", async () => {
    const service = new NameService();
    const lookups = new Lookups(service.lookup);
    const answers = [lookups.resolve("a.test", never), lookups.resolve("a.test", never)];
    await service.untilAsked("a.test");
    service.answer("a.test");
    expect(await Promise.all(answers)).toEqual([["address of a.test"], ["address of a.test"]]);
  });

  it("leave one of the two places there are to others, however many names are dead", async () => {
    const service = new NameService();
    const lookups = new Lookups(service.lookup, { slowMs: 0, patienceMs: 20 });
    const names = Array.from({ length: 8 }, (_, index) => `dead${index}.test`);
    const results = await Promise.allSettled(names.map((name) => lookups.resolve(name, never)));
    expect(results.map((result) => result.status === "rejected" && result.reason.message)).toEqual(
      names.map(() => SILENT),
    );
    expect(service.asked).toEqual(["dead0.test"]);
  });

  it("of names that were answered promptly, and of localhost, pass a slow one, and only that", async () => {
    const service = new NameService();
    const lookups = new Lookups(service.lookup, { slowMs: 200 });
    const known = lookups.resolve("known.test", never);
    await service.untilAsked("known.test");
    service.answer("known.test");
    await known;
    const waiting = ["dead.test", "other.test", "known.test", "localhost"].map((name) => lookups.resolve(name, never));
    await service.untilAsked("known.test", "dead.test", "known.test");
    service.answer("known.test");
    await service.untilAsked("known.test", "dead.test", "known.test", "localhost");
    service.answer("localhost");
    expect(await waiting[3]).toEqual(["address of localhost"]);
    await settled();
    expect(service.asked).toHaveLength(4);
    service.answer("dead.test");
    await service.untilAsked("known.test", "dead.test", "known.test", "localhost", "other.test");
    service.answer("other.test");
    expect(await waiting[1]).toEqual(["address of other.test"]);
  });

  it("end for those who wait no longer, and do not begin when nobody is left", async () => {
    const service = new NameService();
    const lookups = new Lookups(service.lookup);
    const stop = new AbortController();
    const first = lookups.resolve("a.test", never);
    const second = lookups.resolve("b.test", stop.signal);
    stop.abort(new Error("enough"));
    await expect(second).rejects.toThrow("enough");
    await service.untilAsked("a.test");
    service.answer("a.test");
    await first;
    await settled();
    expect(service.asked).toEqual(["a.test"]);
  });

  it("of a name that was slow to fail rest, and those of a name that fails at once do not", async () => {
    const service = new NameService();
    const slow = new Lookups(service.lookup, { slowMs: 0 });
    const dead = slow.resolve("dead.test", never);
    await service.untilAsked("dead.test");
    service.fail("dead.test");
    await expect(dead).rejects.toMatchObject({ code: "EAI_AGAIN" });
    await expect(slow.resolve("dead.test", never)).rejects.toThrow(SILENT);
    expect(service.asked).toEqual(["dead.test"]);
    const rested = new Lookups(service.lookup, { slowMs: 10_000 });
    for (const asked of [2, 3]) {
      const failed = rested.resolve("none.test", never);
      await expect.poll(() => service.asked).toHaveLength(asked);
      service.fail("none.test");
      await expect(failed).rejects.toMatchObject({ code: "EAI_AGAIN" });
    }
  });
});
