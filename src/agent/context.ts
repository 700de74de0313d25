import type { Entry } from "../core/events.ts";
import type { Message } from "../core/messages.ts";

/** The message an entry adds to the context, if any. */
export function messageOf(entry: Entry): Message[] {
  switch (entry.type) {
    case "system":
      return [];
    case "user":
      return [{ role: "user", content: entry.content }];
    case "assistant":
      return [{ role: "assistant", content: entry.content }];
    case "tool_result":
      return [
        {
          role: "tool",
          callId: entry.call_id,
          toolName: entry.tool_name,
          content: entry.content,
          isError: entry.is_error,
        },
      ];
    default:
      return entry satisfies never;
  }
}
