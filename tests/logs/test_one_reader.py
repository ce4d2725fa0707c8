"""The same file gives the same groups, strategies and counts in every command."""

import gzip
import json
import random
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from setrl.logs.records import checked

pytest.importorskip("tyro")

from setrl import DEGENERATE, cli, methods
from setrl.cli.recommend import Recommend
from setrl.evaluate.loading import load_samples, load_side
from setrl.judges.exact import ExactJudge
from setrl.logs import FieldNames, LogOptions, open_log
from setrl.samples.conversation import sample_text
from setrl.show.lab.view.catalogue import Catalogue

# Problem → (is it correct, which approach) of each sample; "-1" has no strategy.
TRUTH = {
    "a": [(1, "x"), (0, "y"), (1, "x")],
    "b": [(0, "y"), (0, "-1")],
    "c": [(1, "x"), (1, "y"), (1, "x"), (0, "z")],
}
SAMPLES = [(p, i, right, way) for p, all_ in TRUTH.items() for i, (right, way) in enumerate(all_)]
CORRECT = [[right for right, _ in samples] for samples in TRUTH.values()]
WAYS = [[0, 1, 0], [0, -1], [0, 1, 0, 2]]


@dataclass(frozen=True)
class Case:
    """A log: how it is written, the options it needs, and what it cannot hold."""

    write: object
    options: tuple = ()
    strategies: bool = True
    texts: bool = True
    is_shuffled: bool = False
    one_n: bool = False  # a tool's log, whose groups get the commonest size: here 2
    rewritten: bool = True  # rows of several problems cannot get values of their samples


def answer(problem, i):
    return f"{problem}{i % 2}"


def text(problem, i):
    return f"so it is \\boxed{{{answer(problem, i)}}}"


def rows(**more):
    return [
        {"question": f"What is {p}?", "reward": right, "answer": answer(p, i), "approach": way,
         "response": text(p, i), "note": {"kept": [i]}, **more}
        for p, i, right, way in SAMPLES
    ]  # fmt: skip


def lines(records):
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def as_file(name, data):
    def write(folder):
        (folder / name).write_bytes(data if isinstance(data, bytes) else lines(data))
        return folder / name

    return write


def as_parquet(records):
    def write(folder):
        parquet = pytest.importorskip("pyarrow.parquet")
        table = pytest.importorskip("pyarrow").Table.from_pylist(records)
        parquet.write_table(table, folder / "log.parquet")
        return folder / "log.parquet"

    return write


def nested(key, **names):
    """A problem a row, with objects for its samples."""
    return [
        {"id": p, "prompt": f"What is {p}?", key: [
            {"metrics": {"acc": bool(right)}, "strategy": way, "output": text(p, i)}
            for i, (right, way) in enumerate(TRUTH[p])], **names}
        for p in TRUTH
    ]  # fmt: skip


def lists():
    return [
        {"problem": f"What is {p}?", "rewards": [r for r, _ in TRUTH[p]],
         "strategies": [w for _, w in TRUTH[p]],
         "texts": [text(p, i) for i in range(len(TRUTH[p]))],
         "kept": {"x": 1}}
        for p in TRUTH
    ]  # fmt: skip


def finals():
    return [
        {"id": p, "prompt": f"What is {p}?", "answer": "7",
         "finals": ["7" if right else f"8{i}" for i, (right, _) in enumerate(TRUTH[p])],
         "approaches": [w for _, w in TRUTH[p]]}
        for p in TRUTH
    ]  # fmt: skip


def chats():
    """Agents that call tools; each row has the whole conversation."""
    return [
        {"task_id": p, "prompt": f"What is {p}?", "passed": bool(right), "strategy": way,
         "messages": [
            {"role": "assistant", "content": None, "tool_calls": [
                {"function": {"name": "add", "arguments": {"n": i}}}]},
            {"role": "tool", "content": f"result {i}"},
            {"role": "assistant", "content": text(p, i)}]}
        for p, i, right, way in SAMPLES
    ]  # fmt: skip


def evaluation():
    return [
        {"schema_version": 1, "id": p, "prompt": f"What is {p}?", "split": "test",
         "n": len(TRUTH[p]), "correct": [r for r, _ in TRUTH[p]],
         "strategies": [DEGENERATE if w == "-1" else w for _, w in TRUTH[p]],
         "answers": [None] * len(TRUTH[p]),
         "texts": [text(p, i) for i in range(len(TRUTH[p]))]}
        for p in TRUTH
    ]  # fmt: skip


def rollouts():
    ways = {"-1": DEGENERATE, "x": 4, "y": 0, "z": 2}
    return [
        {"schema_version": 1, "step": 5, "group": g, "prompt": f"What is {p}?", "samples": [
            {"text": text(p, i), "reward": float(right), "read": f"named {i}",
             "strategy": ways[way], "advantage": 0.5, "counterfactual": {"grpo": 0.1}}
            for i, (right, way) in enumerate(TRUTH[p])]}
        for g, p in enumerate(TRUTH)
    ]  # fmt: skip


def own_rollouts():
    """The same as setrl writes them now."""
    return [checked(record, "here") | {"schema_version": 2} for record in rollouts()]


def judged():
    """What `setrl judge --into way` writes, beside the labels of another judge and gold ones."""
    names = {"-1": -1, "x": 0, "y": 1, "z": 2}
    return [
        {"prompt": f"What is {p}?", "text": text(p, i), "correct": right, "approach": "gold",
         "way": names[way], "judged": {"way": {"judge": "exact"}}}
        for p, i, right, way in SAMPLES
    ]  # fmt: skip


def trl_folder(folder):
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pytest.importorskip("pyarrow").Table.from_pylist([
        {"step": 2, "prompt": f"What is {p}?", "completion": text(p, i), "exact": float(right),
         "approach": way, "advantage": 0.0}
        for p, i, right, way in SAMPLES
    ])  # fmt: skip
    (folder / "out" / "completions").mkdir(parents=True)
    parquet.write_table(table, folder / "out" / "completions" / "completions_00002.parquet")
    return folder / "out"


def verl_folder(folder):
    (folder / "rollouts").mkdir()
    (folder / "rollouts" / "3.jsonl").write_bytes(lines([
        {"input": f"What is {p}?", "output": text(p, i), "gts": "7", "score": float(right),
         "step": 3, "approach": way}
        for p, i, right, way in SAMPLES
    ]))  # fmt: skip
    return folder / "rollouts"


def inspect_file(folder):
    import zipfile

    with zipfile.ZipFile(folder / "log.eval", "w") as archive:
        archive.writestr("header.json", json.dumps({"status": "success"}))
        for p, i, right, _ in SAMPLES:
            sample = {"id": p, "epoch": i, "input": f"What is {p}?", "target": "7",
                      "output": {"completion": text(p, i)},
                      "scores": {"match": {"value": "CI"[1 - right]}}}  # fmt: skip
            archive.writestr(f"samples/{p}_{i}.json", json.dumps(sample))
    return folder / "log.eval"


def hundreds():
    """Labels as in Poly-EPO's code, where 100 is degenerate."""
    names = {"-1": 100, "x": 1, "y": 2, "z": 3}
    return [{**row, "approach": names[row["approach"]]} for row in rows()]


NUMBERED = [{**row, "qid": p} for row, (p, *_) in zip(rows(), SAMPLES, strict=True)]
# Without a word on what a null means, it is unknown; here the user says that it means none.
NULLS = [{**row, "approach": None if row["approach"] == "-1" else row["approach"]}
         for row in rows()]  # fmt: skip
CASES = {
    "null means no strategy": Case(as_file("log.jsonl", NULLS), ("--degenerate", "null")),
    "an unknown tool, with answers and approaches": Case(as_file("log.jsonl", rows())),
    "rows in any order": Case(
        as_file("log.jsonl", random.Random(0).sample(
            [{**row, "sample": i} for row, (_, i, *_) in zip(rows(), SAMPLES, strict=True)],
            len(SAMPLES))), is_shuffled=True),
    "two problems with one prompt": Case(
        as_file("log.jsonl", [{**row, "question": "Why?"} for row in NUMBERED])),
    "gzip": Case(as_file("log.jsonl.gz", gzip.compress(lines(rows()), mtime=0))),
    "a JSON array": Case(as_file("log.json", json.dumps(rows(), indent=1).encode())),
    "an object with a list": Case(
        as_file("log.json", json.dumps({"model": "m", "results": rows()}, indent=1).encode()),
        rewritten=False),
    "objects of samples": Case(as_file("log.jsonl", nested("samples"))),
    "objects under a name of their own": Case(as_file("log.jsonl", nested("tries"))),
    "parallel lists": Case(as_file("log.jsonl", lists())),
    "answers and a gold": Case(as_file("log.jsonl", finals())),
    "counts": Case(as_file("log.jsonl", [
        {"id": p, "num_samples": len(s), "num_correct": sum(r for r, _ in s)}
        for p, s in TRUTH.items()]), strategies=False, texts=False, is_shuffled=True),
    "words": Case(as_file("log.jsonl", [
        {**row, "reward": ["wrong", "Correct"][row["reward"]]} for row in rows()]),
        options=("--correct", "reward")),
    "parquet": Case(as_parquet([{**row, "note": "n"} for row in rows()])),
    "parquet with lists": Case(as_parquet(lists())),
    "several turns with tools": Case(as_file("log.jsonl", chats())),
    "an evaluation file": Case(as_file("test.jsonl", evaluation())),
    "a judged file": Case(as_file("log.jsonl", judged())),
    "rollouts of setrl": Case(as_file("step_000005.jsonl", own_rollouts())),
    "rollouts of setrl up to 0.8": Case(as_file("step_000005.jsonl", rollouts())),
    "labels of Poly-EPO's code": Case(
        as_file("log.jsonl", hundreds()), options=("--degenerate", "100")),
    "graded rewards": Case(
        as_file("log.jsonl", [{**row, "reward": 0.1 + 0.8 * row["reward"]} for row in rows()]),
        options=("--correct-above", "0.5")),
    "a folder of TRL": Case(
        trl_folder, options=("--reward", "exact", "--strategy", "approach"), one_n=True),
    "a folder of verl": Case(verl_folder, options=("--strategy", "approach"), one_n=True),
    "a log of inspect": Case(inspect_file, strategies=False, one_n=True),
}  # fmt: skip


def options_of(case):
    given = dict(zip(case.options[::2], case.options[1::2], strict=True))
    named = {key[2:]: given[key] for key in ("--correct", "--reward", "--strategy") if key in given}
    above = given.get("--correct-above")
    return LogOptions(FieldNames(**named), None if above is None else float(above),
                      given.get("--degenerate"))  # fmt: skip


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as left:
        cli.main([str(argument) for argument in arguments])
    printed = capsys.readouterr()
    assert left.value.code == 0, printed.err
    return printed


def ways(strategies):
    """Labels by their first appearance."""
    number = {None: None, DEGENERATE: DEGENERATE}
    for label in strategies:
        number.setdefault(label, len(number) - 2)
    return [number[label] for label in strategies]


def of_evaluation(found):
    """Correct samples and strategies of each problem, without what pads a row."""
    sizes = found.size_P
    return (
        [row[:n].astype(int).tolist() for row, n in zip(found.correct_PN, sizes, strict=True)],
        [
            ways([int(s) for s in row[:n]])
            for row, n in zip(found.counted("strategies"), sizes, strict=True)
        ],
    )


@pytest.fixture(params=CASES)
def log(request, tmp_path):
    case = CASES[request.param]
    return case, case.write(tmp_path)


def sizes(labels):
    """How many samples have an unknown strategy, have none, and have each one."""
    counts = Counter(labels)
    return counts.pop(None, 0), counts.pop(-1, 0), sorted(counts.values())


def truth(case, path):
    """What all commands must find; in a shuffled file the samples in the order of the file."""
    groups = list(open_log(path, options_of(case)))
    correct = [[int(s.correct) for s in group.samples] for group in groups]
    found = [ways([s.strategy for s in group.samples]) for group in groups]
    order = sorted(range(len(groups)), key=lambda place: groups[place].id)
    n = 2 if case.one_n else None
    rights, labels = [one[:n] for one in CORRECT], [one[:n] for one in WAYS]
    expected = labels if case.strategies else [[None] * len(one) for one in labels]
    assert [sorted(correct[i]) for i in order] == list(map(sorted, rights))
    assert [sizes(found[i]) for i in order] == list(map(sizes, expected))
    assert case.is_shuffled or (correct, found) == (rights, expected)
    return correct, found


def test_every_command_reads_the_same(log, tmp_path, capsys):
    case, path = log
    correct, strategies = truth(case, path)
    options, given = options_of(case), [*map(str, case.options)]
    none = [[-1] * len(one) for one in correct]  # arrays have no strategy for unknown ones
    seen = strategies if case.strategies else none
    assert of_evaluation(load_samples(path, options)) == (correct, seen)
    [compared] = load_side(path, log=options).evaluations
    assert of_evaluation(compared) == (correct, seen)
    recommend = Recommend(
        file=path,
        quiet=True,
        correct_above=options.correct_above,
        degenerate=options.degenerate,
        **{k: v[0] for k, v in options.fields.named().items()},
    )
    assert of_evaluation(recommend._read_samples()) == (correct, seen)
    shown = shown_in_a_page(path, options)  # all that is logged, also beyond n
    assert [row[: len(one)] for row, one in zip(shown, correct, strict=True)] == correct
    assert of_evaluation(reported(path, tmp_path, options)) == (correct, seen)
    if "schema_version" not in path_text(path):
        output = tmp_path / "imported.jsonl"
        tool = {"out": "trl", "rollouts": "verl", "log.eval": "inspect"}.get(path.name, "jsonl")
        run(capsys, "import", tool, path, "--output", output, *given)
        assert of_evaluation(load_samples(output, LogOptions())) == (correct, seen)
        again = [[s.strategy for s in group.samples] for group in open_log(output)]
        assert list(map(ways, again)) == strategies


def path_text(path):
    return path.read_text(errors="replace")[:60] if path.is_file() else ""


def shown_in_a_page(path, options):
    """Which samples are correct in what `setrl view` shows."""
    [entry] = Catalogue(path, options).look().entries.values()
    [split] = filter(None, entry.splits)
    [index] = entry.of_split(split).values()
    groups = [group for _, group in index.log.groups(0)]
    return [[s.correct for s in group.samples] for group in groups]


def reported(path, folder, options):
    """What `setrl report` shows."""
    pytest.importorskip("matplotlib")
    from setrl.show.report.run import data_of

    [of_arm] = data_of([path], folder, options)[0].evaluations["given"].values()
    return of_arm[0]


def test_credit_is_added_to_the_same_groups(log, tmp_path, capsys):
    case, path = log
    correct, strategies = truth(case, path)
    output = tmp_path / "credited.jsonl"
    method, size = "poly_epo" if case.strategies else "maxpo", 1 if case.one_n else 2
    command = ["credit", path, "--method", method, "--set-size", size, "--output", output]
    command += [*case.options, "--into", "mine"]
    if not case.rewritten:
        with pytest.raises(SystemExit):
            cli.main(list(map(str, command)))
        assert "holds samples of several problems" in capsys.readouterr().err
        return
    run(capsys, *command)
    found = [value for row in read(output) for value in values_in(row, "mine")]
    expected = []
    rewards = [[s.reward for s in g.samples] for g in open_log(path, options_of(case))]
    for one, labels in zip(rewards, strategies, strict=True):
        strategies = None if not case.strategies else np.array([labels], dtype=float)
        padded = np.array([one + [np.nan] * (3 - len(one))], dtype=float)
        if strategies is not None and strategies.shape != padded.shape:
            strategies = np.pad(strategies, ((0, 0), (0, 1)), constant_values=np.nan)
        core = getattr(methods, method)(size).advantages(padded, strategies=strategies)
        known = core.usable_BN[0] & ~core.skipped_B[0]
        values = zip(core.values_BN[0].tolist(), known, strict=True)
        expected += [value if is_known else None for value, is_known in values][: len(one)]
    assert found == expected
    assert any(expected) or not case.strategies
    assert sum(map(len, correct)) == len(found)


def test_labels_are_added_to_the_same_groups(log, tmp_path, capsys):
    case, path = log
    if not (case.texts and case.rewritten):
        return
    output = tmp_path / "judged.jsonl"
    run(capsys, "judge", path, "--judge", "exact", "--output", output, "--into", "label",
        *case.options)  # fmt: skip
    groups = list(open_log(path, options_of(case), ["text"]))
    labels = [value for row in read(output) for value in values_in(row, "label")]
    assert labels == [n for one in ExactJudge().judge(groups) for n in one.labels_N]
    assert len(set(labels)) > 1
    options = replace(options_of(case), fields=replace(options_of(case).fields, strategy=None))
    if case.options == ("--strategy", "approach") or path.is_dir():
        options = LogOptions(correct_above=options.correct_above)
    again = list(open_log(output, options))
    assert [[s.correct for s in g.samples] for g in again] == [
        [s.correct for s in g.samples] for g in groups
    ]


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def values_in(row, key):
    """The values of a row's samples, wherever its shape has them."""
    for objects in (row.get("samples"), row.get("tries")):
        if objects:
            return [one[key] for one in objects]
    return row[f"{key}s"] if f"{key}s" in row else [row[key]]


def test_conversations_are_readable_text(tmp_path):
    path = CASES["several turns with tools"].write(tmp_path)
    sample = next(iter(open_log(path))).samples[0]
    assert sample.text == sample_text(
        list(sample.turns)
    )  # a judge reads in a log what it trained on
    assert sample.text.splitlines()[::2] == [
        'assistant: add({"n": 0})', "tool: result 0", r"assistant: so it is \boxed{a0}",
    ]  # fmt: skip
    assert sample.last_text == r"so it is \boxed{a0}"
    assert len(sample.turns) == 3


def test_prompts_with_the_same_last_turn_are_two_problems(tmp_path):
    def row(first, answer):
        said = [("user", first), ("assistant", answer), ("user", "Double it.")]
        return {
            "prompt": [{"role": r, "content": c} for r, c in said],
            "completion": answer,
            "correct": 1,
        }

    path = tmp_path / "turns.jsonl"
    rows = [row("2 + 3?", "10"), row("4 + 4?", "16")] * 2
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    groups = list(open_log(path))
    assert [len(group) for group in groups] == [2, 2]
    assert groups[0].prompt == "user: 2 + 3?\n\nassistant: 10\n\nuser: Double it."


def test_a_path_may_be_text(tmp_path):
    path = CASES["several turns with tools"].write(tmp_path)
    assert list(open_log(str(path))) == list(open_log(path))
    assert load_samples(str(path), LogOptions()) is not None
    assert load_side(str(path)).split == path.stem


def test_no_group_is_read_before_it_is_wanted(tmp_path):
    """A group in the middle of a shuffled file is read from its own rows."""
    path = Path(CASES["rows in any order"].write(tmp_path))
    log = open_log(path)
    whole = list(log)
    assert log[1] == whole[1]
    assert sorted(row for group in whole for row in group.rows) == list(range(len(SAMPLES)))
