"""A tiny random model that writes the polynomial domain's tokens."""

from pathlib import Path


def make(folder: Path) -> Path:
    """Save the model and its tokenizer, as a checkpoint is saved."""
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    from setrl.models.small.tokenizer import make_tokenizer
    from setrl.tasks import domains

    tokenizer = make_tokenizer(domains.by_name("polynomial").vocabulary)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = Qwen3Config(
            vocab_size=len(tokenizer),
            hidden_size=32,
            intermediate_size=32,
            num_hidden_layers=1,
            num_attention_heads=1,
            num_key_value_heads=1,
            head_dim=32,
            tie_word_embeddings=True,
            pad_token_id=tokenizer.pad_token_id,
            eos_token_id=tokenizer.eos_token_id,
        )
        Qwen3ForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
