import { describe, expect, test } from "vitest";
import { questionWords } from "../../../src/toolhost/shell/questions.ts";

describe("a question that found the end of the input", () => {
  test.each([
    ["apt", "Do you want to continue? [Y/n] Abort.\n", 1],
    ["pip", "Proceed (Y/n)? ERROR: Exception:\nTraceback\nEOFError: EOF when reading a line\n", 2],
    ["python's input", "name: Traceback (most recent call last):\nEOFError: EOF when reading a line\n", 1],
    ["conda", "Proceed ([y]/n)? ", 0],
    ["rm -i", "rm: remove regular file 'f'? ", 0],
    ["npm", "Is this OK? (yes) ", 1],
    [
      "ssh",
      "Are you sure you want to continue connecting (yes/no/[fingerprint])? Host key verification failed.\n",
      255,
    ],
  ])("of %s is told with the ways out", (_, output, code) => {
    expect(questionWords(output, code)[0]).toContain("such as -y, or by a pipe into it");
  });

  test.each([
    ["a text about such questions", "continue? [Y/n]\n", 0],
    ["a match in a source file that was printed and went well", 'a.py:3: input("Go on? [y/n] ").strip()\n', 0],
    ["a failure without a question", "error: no such file\n", 1],
    ["nothing at all", "", 1],
    ["an answered question", "Continue? [y/N] y\nbuilding\nmore\nerror: failed\n", 1],
  ])("is not seen in %s", (_, output, code) => {
    expect(questionWords(output, code)).toEqual([]);
  });
});
