"""Small language models: making them, teaching them, and sampling them quickly."""

HEAD_DIM = 64  # of the models made from scratch: the smallest that vLLM's attention on CPUs takes
