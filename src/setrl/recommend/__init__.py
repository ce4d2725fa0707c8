"""Which method and which K to train with, forecast from groups of a base model."""
