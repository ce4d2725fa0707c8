/** The maths of the page. `tests/lab` holds it to the core by golden vectors. */

export * from "./credit";
export * from "./curves";
export * from "./decomposition";
export * from "./dynamics";
export type { SetMeans } from "./means";
export * from "./methods";
export * from "./objectives";
export * from "./quadrants";
export { Random } from "./random";
export * from "./samples";
export * from "./sets";
export * from "./spread";
