"""Readers of the logs of other tools."""
