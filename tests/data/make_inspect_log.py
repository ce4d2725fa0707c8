"""Make inspect_arith.eval: a log of inspect_ai's own, of a made-up model on six problems.

    pip install inspect-ai==0.3.285
    python tests/data/make_inspect_log.py

The model's usage has made-up numbers of tokens. The log has new ids and times whenever it is made.
"""

import tempfile
from collections import Counter
from pathlib import Path

from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import match
from inspect_ai.solver import generate

FILE = Path(__file__).parent / "inspect_arith.eval"
PROBLEMS = {
    "What is 17 + 25?": ("42", ("42", "42", "41", "43")),
    "What is 12 * 12?": ("144", ("144", "144", "144", "124")),
    "How many primes are below 20?": ("8", ("8", "7", "9", "8")),
    "What is \\(\\frac{3}{4}\\) of 64?": ("48", ("48", "48", "48", "48")),
    "What is 2^{10}?": ("1024", ("1024", "1000", "1024", "512")),
    "What is 91 / 7?": ("13", ("12", "14", "12", "11")),
}
WAYS = (
    "Add the tens first, then the ones. ",
    "I count step by step:\n\n\\[ x = ANSWER \\]\n\n",
    "Let me think. It is close to a round number. ",
    "By the formula, ",
)


def main() -> None:
    """Write the log."""
    asked: Counter[str] = Counter()

    def answer(messages, *_):
        question = messages[-1].text
        place = asked[question] % len(WAYS)
        asked[question] += 1
        found = PROBLEMS[question][1][place]
        text = f"{WAYS[place].replace('ANSWER', found)}The answer is {found}"
        output = ModelOutput.from_content("mockllm/model", text)
        tokens = 2 * len(text.split()) + 4
        output.usage = ModelUsage(input_tokens=12, output_tokens=tokens, total_tokens=12 + tokens)
        return output

    data = [Sample(input=question, target=gold, id=f"arith-{place}")
            for place, (question, (gold, _)) in enumerate(PROBLEMS.items())]  # fmt: skip
    task = Task(name="arith", dataset=MemoryDataset(data), solver=[generate()],
                scorer=match(location="end"))  # fmt: skip
    model = get_model("mockllm/model", custom_outputs=answer, memoize=False)
    with tempfile.TemporaryDirectory() as folder:
        evaluate(task, model=model, epochs=len(WAYS), log_dir=folder, display="none",
                 max_connections=1)  # fmt: skip
        (log,) = Path(folder).glob("*.eval")
        FILE.write_bytes(log.read_bytes())


if __name__ == "__main__":
    main()
