import { inject } from "vitest";
import { LocalSandbox } from "../support/local-sandbox.ts";
import { describeSandbox } from "../support/sandbox-contract.ts";

describeSandbox("a local sandbox", { open: (root) => LocalSandbox.open({ root, bundle: inject("localToolHost") }) });
