"""Prompt → texts: a model behind a server, a local one, and small ones made from scratch."""
