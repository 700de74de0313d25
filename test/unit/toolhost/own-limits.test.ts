import { describe, expect, test } from "vitest";
import { loweredLimits, watchLimits } from "../../../src/toolhost/own-limits.ts";

const LIMITS = `Limit                     Soft Limit           Hard Limit           Units     
Max cpu time              unlimited            unlimited            seconds   
Max core file size        1                    1                    bytes     
Max processes             unlimited            unlimited            processes 
Max open files            1024                 4096                 files     
Max realtime timeout      unlimited            unlimited            us        
`;
const lowered = LIMITS.replace("1024                 4096", "3                    3   ");

describe("P-30 the tool host's own limits", () => {
  test.each([
    ["the same", LIMITS, []],
    ["a lower number", lowered, ["Max open files"]],
    ["a number for unlimited", LIMITS.replace(/(Max processes +)unlimited/, "$10        "), ["Max processes"]],
    ["a lower hard limit", LIMITS.replace("4096", "1024"), ["Max open files"]],
    ["a higher number", LIMITS.replace("1024", "4096"), []],
    ["nothing", "", ["Max cpu time", "Max core file size", "Max processes", "Max open files", "Max realtime timeout"]],
  ])("with %s", (_, now, names) => {
    expect(loweredLimits(LIMITS, now)).toEqual(names);
  });

  test.each([
    ["lowered", () => lowered, "A command has lowered limits of the tool host: Max open files"],
    ["unreadable", () => fail(), expect.stringContaining("cannot be read any more")],
  ])("that are %s end it", (_, later, why) => {
    const ends: string[] = [];
    let read = () => LIMITS;
    const limits = watchLimits(
      () => read(),
      (words) => void ends.push(words),
    );
    limits.require();
    read = later;
    limits.require();
    expect(ends).toEqual([why]);
  });
});

function fail(): never {
  throw new Error("EMFILE");
}
