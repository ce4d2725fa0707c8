"""What JAX reads when it computes for the first time."""

from __future__ import annotations

import os

# Tests compile much and compute little.
FAST_COMPILATION = "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false"
os.environ.setdefault("XLA_FLAGS", FAST_COMPILATION)
