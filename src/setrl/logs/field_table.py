"""The table of fields: under which names strangers' logs hold each role, and how it is read.

Names are in plain letters: no case, no "_", no "-". Of two that a log has, the first of a list is
taken.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from setrl.logs.field_values import (
    group_name,
    is_label,
    is_name,
    is_text,
    is_tokens,
    is_verdict,
    is_whole,
    text_of,
)
from setrl.samples.conversation import prompt_text
from setrl.samples.values import read_answer, read_count, read_label, read_score, read_tokens

SAYS_CORRECT = ("correct", "iscorrect", "isright", "right", "passed", "pass", "ispassed",
                "success", "solved", "issolved", "resolved", "correctness", "isequiv",
                "exactmatch", "verified", "basestatus", "plusstatus")  # fmt: skip
SCORES = ("acc", "accuracy", "score", "reward", "grade", "verdict", "judgement", "judgment",
          "outcome", "result", "label")  # fmt: skip
# Verdicts of 0 and 1 that must agree with the field that says what is correct.
ALSO_VERDICTS = ("acc", "accuracy", "score", "judge", "llmjudge", "judgecorrect", "judgescore",
                 "modelgraded", "llmgrade")  # fmt: skip
EITHER = "answer"  # the model's answer where it differs within a group, else the right answer
# A judge's label before the name that a program gives; never an answer.
STRATEGIES = ("cluster", "clusterid", "strategy", "strategies", "strategyid", "approach",
              "approaches")  # fmt: skip
PROMPTS = ("prompt", "problem", "question", "input", "instruction", "query")
TOKENS = ("numtokens", "ntokens", "tokencount", "completiontokens", "outputtokens",
          "responsetokens", "generatedtokens", "completionids", "outputids", "responseids",
          "tokenids", "outputtokenids")  # how many, or the tokens themselves  # fmt: skip
TOKENS_OF_TRAINERS = (*TOKENS, "completionlength", "responselength")  # elsewhere maybe letters
ROW_LISTS = ("samples", "completions", "responses", "generations", "outputs", "rollouts",
             "results", "problems", "perproblem", "records", "data", "choices")  # fmt: skip
SAMPLE_LISTS = ("samples", "completions", "responses", "generations", "outputs", "rollouts",
                "choices")  # of one problem  # fmt: skip


class Role(NamedTuple):
    """How the field of a role is recognised and read.

    Attributes:
        names: Its names.
        fits: Whether it may hold a value.
        read: Reads a value of it.
    """

    names: tuple[str, ...]
    fits: Callable[[Any], bool]
    read: Callable[[Any], Any]


def read_prompt(value: Any) -> str | None:
    """Return a prompt as text, also that of a conversation."""
    return text_of(value) if isinstance(value, int | float) else prompt_text(value)


def read_interned(value: Any) -> str | None:
    """Return an answer; equal ones share their memory."""
    answer = read_answer(value)
    return None if answer is None else sys.intern(answer)


ROLES = {
    "group": Role(
        ("group", "groupid", "qid", "questionid", "problemid", "promptid", "taskid", "instanceid",
         "exampleid", "itemid", "docid", "testidx", "uniqueid", "uid", "id", "prompt", "problem",
         "question", "input", "instruction", "idx", "index", "key"),
        is_name, lambda value: group_name([value])),
    "correct": Role(SAYS_CORRECT, is_verdict, read_score),
    "reward": Role(("reward", "totalreward"), is_verdict, read_score),
    "answer": Role(
        ("pred", "prediction", "predicted", "predictedanswer", "predanswer", "finalanswer",
         "final", "extractedanswer", "extracted", "parsedanswer", "parsed", "modelanswer"),
        is_label, read_interned),
    "gold": Role(
        ("gold", "goldanswer", "groundtruth", "gt", "gts", "target", "reference",
         "referenceanswer", "expected", "expectedanswer", "correctanswer", "answerkey"),
        is_label, text_of),
    "text": Role(
        ("text", "output", "completion", "response", "generation", "generatedtext", "modeloutput",
         "sample", "content", "code", "messages", "turns", "conversation", "trajectory"),
        is_text, str),
    "strategy": Role(STRATEGIES, is_label, read_label),
    "prompt": Role(PROMPTS, is_text, read_prompt),
    "sample_number": Role(
        ("sampleid", "sampleidx", "sampleindex", "samplenumber", "sampleno", "sample", "rollout",
         "rolloutid", "rolloutidx", "attempt", "trial", "repeat", "completionid", "completionidx",
         "generationid", "responseid", "epoch", "seed", "idx", "index"),
        is_whole, read_count),
    "num_correct": Role(
        ("c", "numcorrect", "ncorrect", "correctcount", "numpassed", "passes", "successes"),
        is_whole, read_count),
    "num_samples": Role(
        ("n", "numsamples", "nsamples", "samplecount", "total", "trials", "count"),
        is_whole, read_count),
    "step": Role(("step", "globalstep", "trainingstep", "iteration"), is_whole, read_count),
    "advantage": Role(("advantage",), is_verdict, read_score),
    "tokens": Role(TOKENS, is_tokens, read_tokens),
    "proxy": Role(("proxy",), is_verdict, read_score),
    "second": Role(("second",), is_verdict, read_score),
    "family": Role(("family", "families"), is_label, read_label),
}  # fmt: skip
"""Role, an attribute of `FieldNames` → its row of the table."""
