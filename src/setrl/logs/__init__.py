"""Samples on disk: our own formats, and what other tools write."""
