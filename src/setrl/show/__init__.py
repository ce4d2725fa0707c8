"""Show a run: the report, and the lab with the playground and the explorer."""
