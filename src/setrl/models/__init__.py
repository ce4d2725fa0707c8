"""Small language models: making them, teaching them, and sampling them quickly."""
