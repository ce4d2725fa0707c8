"""A model for the pilot that needs no download: two primes with a given sum, written from memory.

It has 90,000 parameters and learns in seconds what a written corpus does: it prefers pairs with a
small prime, knows the others, and is wrong in a quarter of its answers. So it has what
a pretrained model has, preferences, and training can lose the pairs that it writes seldom.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from setrl.models.small.imitation import Course, TextExample, taught_model
from setrl.models.small.tokenizer import make_tokenizer

PROMPT = "Two primes with the sum {}: "
WRITTEN = 120  # answers to each prompt
WRONG = 0.25  # their share that is wrong
DECAY = 0.6  # how much less often the next pair is written


def is_prime(n: int) -> bool:
    """Return whether a number is a prime."""
    return n > 1 and all(n % d for d in range(2, int(n**0.5) + 1))


def answer(total: int, rng: random.Random) -> str:
    """Draw an answer for the corpus: mostly a pair of primes, mostly with a small one."""
    odd = range(3, total // 2 + 1, 2)
    right = [p for p in odd if is_prime(p) and is_prime(total - p)]
    wrong = [p for p in odd if p not in right]
    if wrong and rng.random() < WRONG:
        first = rng.choice(wrong)
    else:
        [first] = rng.choices(right, [DECAY**place for place in range(len(right))])
    return f"{first} and {total - first}"


def tiny_model(folder: Path, totals: Sequence[int]) -> str:
    """Teach the model, save it with its tokenizer, and return the folder's name."""
    tokenizer = make_tokenizer([*PROMPT.split("{}"), " and ", *map(str, range(100))])
    rng = random.Random(0)

    def ids(text: str) -> list[int]:
        return tokenizer(text, add_special_tokens=False)["input_ids"]

    examples = [
        TextExample(ids(PROMPT.format(total)), [*ids(answer(total, rng)), tokenizer.eos_token_id])
        for total in totals
        for _ in range(WRITTEN)
    ]
    course = Course(epochs=4, batch_size=64, learning_rate=0.02, seed=0)
    model = taught_model(tokenizer, (64, 128, 2), examples, course, "tiny model")
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)
