"""A judge in verl's trainers: asked about each group as soon as all its samples are there.

verl's replay buffer looks every few seconds which prompts have all their samples, until there are
enough for a step. The judge is asked at that moment, and works while the other prompts are sampled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from setrl.judges import BackgroundJudge, Group, Judgement
from setrl.judges.base import fields_given
from setrl.support.errors import usage_errors
from setrl.train.gathering.judging import make_judge
from setrl.train.scoring.batch import Missing

PARTITION = "train"
GIVEN = {"strategies": "labels_N", "families": "families_N"}  # field of a method → of a judgement


class GroupJudging:
    """Questions about groups of verl's TransferQueue, and their answers.

    Args:
        spec: A judge as configs have it, such as "exact" or {judge: lm, endpoint: …}.
        folder: Where a language model's judgements are kept, in judge.sqlite, if the settings name
            no other cache.
        queue: The module `transfer_queue`.
        tokenizer: Returns verl's tokenizer, which is made after the judge.
    """

    def __init__(self, spec: Any, folder: Path, queue: Any, tokenizer: Callable[[], Any]):
        with usage_errors(TypeError):
            self.judge = make_judge(spec, folder)
        self.queue, self.tokenizer = queue, tokenizer
        self.gives = fields_given(self.judge)
        self._asked: dict[str, tuple[list[str], Future[Judgement]]] = {}

    def watch(self, buffer: Any) -> None:
        """Ask about the groups that a replay buffer finds finished, each time it looks."""
        if not isinstance(self.judge, BackgroundJudge):
            return  # it is asked when the labels are needed
        look = buffer._sync_metadata_from_transfer_queue

        def look_and_ask() -> None:
            look()
            finished = set(buffer.finished_keys[PARTITION]) - self._asked.keys()
            self._ask_about(_group_keys(buffer.partitions[PARTITION], finished))

        buffer._sync_metadata_from_transfer_queue = look_and_ask

    def labels_of_rows(
        self, keys: Sequence[str | None]
    ) -> tuple[dict[str, list[int | None]], list[Missing | None]]:
        """Return what the judge gives of each row, and why its group has none; None for padding."""
        named = [key for key in keys if key is not None]
        self._ask_about(_group_keys(named, {_read_uid(key) for key in named} - self._asked.keys()))
        labels: dict[str, dict[str, int | None]] = {name: {} for name in self.gives}
        unjudged: dict[str, Missing | None] = {}
        for uid in dict.fromkeys(map(_read_uid, named)):
            sessions, answer = self._asked.pop(uid)
            judgement = answer.result().read(len(sessions), self.judge)
            unjudged[uid] = Missing.by_judge(judgement)
            for name, by_session in labels.items():
                labels_N = getattr(judgement, GIVEN[name]) or [None] * len(sessions)
                by_session.update(zip(sessions, labels_N, strict=True))
        columns = {
            name: [None if key is None else by_session.get(_read_session(key)) for key in keys]
            for name, by_session in labels.items()
        }
        return columns, [None if key is None else unjudged[_read_uid(key)] for key in keys]

    def _ask_about(self, groups: dict[str, list[str]]) -> None:
        """Ask about groups, by the keys of their rows."""
        keys = [key for group in groups.values() for key in group]
        if not keys:
            return
        texts = self._read_texts(keys)
        questions = {uid: _make_question(group, texts) for uid, group in groups.items()}
        if isinstance(self.judge, BackgroundJudge):
            answers = [self.judge.submit(group) for _, group in questions.values()]
        else:
            answers = [
                _make_done_future(judgement)
                for judgement in self.judge.judge([g for _, g in questions.values()])
            ]
        for (uid, (sessions, _)), answer in zip(questions.items(), answers, strict=True):
            self._asked[uid] = sessions, answer

    def _read_texts(self, keys: list[str]) -> dict[str, tuple[str, str]]:
        """Read the prompt and the output of each row as text."""
        fields = ["prompts", "responses"]
        data = self.queue.kv_batch_get(keys=keys, partition_id=PARTITION, select_fields=fields)
        decode = self.tokenizer().decode
        prompts, outputs = (
            [decode(ids, skip_special_tokens=True) for ids in data[name]] for name in fields
        )
        return dict(zip(keys, zip(prompts, outputs, strict=True), strict=True))


def _make_question(keys: list[str], texts: dict[str, tuple[str, str]]) -> tuple[list[str], Group]:
    """Return the sessions of a group and what to ask: all outputs of each session, in order."""
    ordered = sorted(keys, key=lambda key: (_read_session(key), int(key.rsplit("_", 1)[1])))
    by_session: dict[str, list[str]] = {}
    for key in ordered:
        by_session.setdefault(_read_session(key), []).append(texts[key][1])
    samples = tuple("\n\n".join(outputs) for outputs in by_session.values())
    return list(by_session), Group.of_texts(texts[ordered[0]][0], samples)


def _group_keys(keys: Iterable[str], uids: set[str]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for key in keys:
        if _read_uid(key) in uids:
            groups.setdefault(_read_uid(key), []).append(key)
    return groups


def _read_uid(key: str) -> str:
    return key.rsplit("_", 2)[0]


def _read_session(key: str) -> str:
    return key.rsplit("_", 1)[0]


def _make_done_future(judgement: Judgement) -> Future[Judgement]:
    answer: Future[Judgement] = Future()
    answer.set_result(judgement)
    return answer
