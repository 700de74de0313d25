import { byteLength, wellFormed } from "../../core/truncate.ts";
import { MAX_COMMAND_BYTES } from "../../tools/bash.ts";

/** A command's text as it will be run, or why it cannot be. */
export type Checked = { text: string; notes: string[] } | { refused: string };

/** Checks what the model wrote before anything runs: size, bytes no shell can read, and line endings. */
export function checkText(command: string): Checked {
  const bytes = byteLength(command);
  if (bytes > MAX_COMMAND_BYTES) {
    return {
      refused: `The command is ${bytes} bytes, the limit is ${MAX_COMMAND_BYTES}; put data into a file with write`,
    };
  }
  if (command.includes("\0")) {
    return {
      refused: "The command holds a NUL character, which no shell can read; write it as $'\\x00' or with printf",
    };
  }
  if (wellFormed(command) !== command) {
    return { refused: "The command holds half a surrogate pair, which is no character; send the whole character" };
  }
  const text = withoutCarriageReturns(command);
  return { text, notes: text === command ? [] : ["CRLF line endings of the command were read as LF"] };
}

const HEREDOC = /(?<!<)<<(-?)[ \t]*(?:'([^'\n]+)'|"([^"\n]+)"|\\?([A-Za-z_!%+,./:=@^][^\s;&|<>()"'`]*))/g;

type Heredoc = { end: string; tabs: boolean };

/** CRLF as LF, except inside here-documents, whose bytes are data. */
function withoutCarriageReturns(text: string): string {
  if (!text.includes("\r\n")) return text;
  const lines = text.split("\n");
  const open: Heredoc[] = [];
  return lines
    .map((line, index) => {
      const bare = line.endsWith("\r") ? line.slice(0, -1) : line;
      const heredoc = open[0];
      if (heredoc === undefined) {
        open.push(...heredocsOf(bare).filter((found) => lines.slice(index + 1).some((later) => ends(later, found))));
        return bare;
      }
      if (!ends(line, heredoc)) return line;
      open.shift();
      return bare;
    })
    .join("\n");
}

function heredocsOf(line: string): Heredoc[] {
  return [...line.matchAll(HEREDOC)].map((match) => ({
    end: match[2] ?? match[3] ?? match[4] ?? "",
    tabs: match[1] === "-",
  }));
}

function ends(line: string, heredoc: Heredoc): boolean {
  const bare = line.endsWith("\r") ? line.slice(0, -1) : line;
  return (heredoc.tabs ? bare.replace(/^\t+/, "") : bare) === heredoc.end;
}
