"""What a judge reads of prompts and samples."""

import pytest

from setrl.samples.conversation import prompt_text, sample_text

USER = {"role": "user", "content": "the sum of 2 and 3?"}
CALL = {"role": "assistant", "tool_calls": [{"function": {"name": "add", "arguments": {"a": 2}}}]}
RESULT = {"role": "tool", "name": "add", "content": "5"}
ANSWER = {"role": "assistant", "content": "5"}


@pytest.mark.parametrize(
    ("sample", "text"),
    [
        ("6", "6"),
        ([ANSWER], "5"),
        ([{"role": "assistant", "content": None}], ""),
        ([{"role": "assistant"}], ""),
        ([{}], ""),
        ([], ""),
        ([{"role": "assistant", "content": [{"type": "text", "text": "5"}]}], "5"),
        ([CALL], 'add({"a": 2})'),
        ([{**ANSWER, "reasoning_content": "2 + 3"}], "<think>\n2 + 3\n</think>\n\n5"),
        ([CALL, RESULT, ANSWER], 'assistant: add({"a": 2})\n\ntool add: 5\n\nassistant: 5'),
    ],
)
def test_a_sample_is_read_whole(sample, text):
    assert sample_text(sample) == text


def test_samples_with_the_same_answer_and_other_calls_differ():
    other = {**CALL, "tool_calls": [{"function": {"name": "add", "arguments": {"a": 3}}}]}
    assert sample_text([CALL, RESULT, ANSWER]) != sample_text([other, RESULT, ANSWER])


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        ("y = x", "y = x"),
        ([USER], "the sum of 2 and 3?"),
        ([{"role": "system", "content": "Be brief."}, USER], "the sum of 2 and 3?"),
        (
            [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "?"}]}],
            "[image]?",
        ),
        (
            [USER, ANSWER, {"role": "user", "content": "and of 4?"}],
            "user: the sum of 2 and 3?\n\nassistant: 5\n\nuser: and of 4?",
        ),
    ],
)
def test_a_prompt_is_a_question_or_a_conversation(prompt, text):
    assert prompt_text(prompt) == text
