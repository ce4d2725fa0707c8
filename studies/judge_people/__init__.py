"""Is a judge by embeddings any good? Measured against people, and against official solutions."""
