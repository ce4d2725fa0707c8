/** The colours of the registry that Python's figures use, too. */

import registry from "../../../src/setrl/evaluate/looks.json";

export const { hues, fills, other } = registry;
