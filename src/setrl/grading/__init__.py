"""An answer and a gold answer → right, wrong, or unreadable."""
