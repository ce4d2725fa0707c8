"""Poly-PPO on JAX: environments are pure functions, and setting one back is free."""
