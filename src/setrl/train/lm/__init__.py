"""Arms of language models: base model, config, one training run, and comparisons of several."""
