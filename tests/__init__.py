"""Tests mirror `src/setrl`; `import tests.core.reference` and the like find what they share."""
