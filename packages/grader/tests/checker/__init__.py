r"""Check what the grader found, without the grader: its certificates and its witnesses.

It has its own reader and its own arithmetic, and imports nothing of the grader (`make lint`
enforces it). A certificate is a tree of rules: each part must be a part of the texts above it, and
each rule must hold. Rational expressions are compared exactly, at random points (Schwartz and
Zippel); others with 60 digits, and with 3,000. What this reader cannot read is not confirmed.
"""

from checker.rules import check

__all__ = ["check"]
