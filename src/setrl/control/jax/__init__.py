"""Poly-PPO on environments that are pure functions of JAX: a state is a value, set back for free."""
