"""Stable-Baselines3 with set credit inside: PPO and its rivals, Poly-PPO."""
