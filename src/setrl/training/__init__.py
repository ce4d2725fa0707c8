"""Training language models on set credit: base model, trainer on TRL, comparisons of methods."""
