export { type Formula, FormulaError, LONGEST, parse } from "./parse";
export { EPSILON, FUNCTIONS, type Kinds, NAMES, WHERE } from "./vocabulary";
