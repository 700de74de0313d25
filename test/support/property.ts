import * as fc from "fast-check";

/** Fails with the smallest counterexample and its seed; `property` must not be asynchronous. */
export function holds<Inputs>(property: fc.IProperty<Inputs>, options: fc.Parameters<Inputs>): void {
  const details = fc.check(property, options);
  if (details.failed) throw new Error(fc.defaultReportMessage(details));
}
