/** Paths and names inside every container of ours. */

/** A home that no image has, so that nothing of an image hides in it. */
export const HOME = "/home/glovebox";
/** Where the runtime volume is mounted. */
export const RUNTIME_ROOT = "/opt/glovebox";
/** Shell state, outputs and job logs; lives as long as the container. */
export const STATE_DIR = "/run/glovebox";
/** The container's hostname. */
export const SELF_NAME = "glovebox";
