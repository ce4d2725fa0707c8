"""Small language models: make them, teach them, and sample from them quickly."""

HEAD_DIM = 64  # of models made from scratch: vLLM's attention on CPUs takes no smaller one
