/**
 * User and group of a container's init and idle process; nobody's elsewhere. A tool host that finds process 1 owned by
 * anybody else is not in a container of ours, and must not take the processes around it for the agent's.
 */
export const IDLE_USER = 65_532;
