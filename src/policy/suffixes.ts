/** The public suffix list, loaded by who needs it: half a megabyte. */
export { parse } from "tldts";
