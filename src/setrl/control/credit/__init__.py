"""Vines → set advantages of their steps: what sets of trajectories are worth."""
