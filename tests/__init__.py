"""Tests mirror `src/setrl`; `claims.exact` and `claims.scores` are the reference in fractions."""
