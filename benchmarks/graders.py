"""Tests of other graders, graded by ours and by theirs in one run.

    python benchmarks/graders.py HARDVERIFY_JSONL --trl TRL_CLONE/tests/test_rewards.py

The cases are read from the released source distributions, which pip downloads into `--folder`:
math-verify's and tinker-cookbook's. TRL's has no tests: name the file of a clone. HardVerify-Math
is a file with `ground_truth`, a right answer (`fn_output`) and a wrong one (`tn_output`). A grader
that is not installed (math-verify, inspect_ai, lighteval, verl, pylatexenc for tinker-cookbook) has
no figures; lighteval 0.13 and math-verify 0.9 need different versions of one package, so run each
with `--only`. `--attacks` adds what attacks ours; `--calls N` says how the memory grows.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import json
import math
import os
import resource
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from setrl_grader import parse, trl_reward, verify

PACKAGES = ("math-verify==0.9.0", "tinker-cookbook==0.6.1")
Grader = Callable[[str, str], bool]  # gold, answer


class Case(NamedTuple):
    """A gold, an answer, and whether its author calls it right."""

    gold: str
    answer: str
    right: bool


def downloaded(package: str, folder: Path) -> Path:
    """Download and unpack a source distribution; return its folder."""
    name, _, version = package.replace("-", "_").partition("==")
    root = folder / f"{name}-{version}"
    if not root.exists():
        pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", ":all:"]
        subprocess.run([*pip, "-d", str(folder), package], check=True, capture_output=True)
        with tarfile.open(root.with_name(root.name + ".tar.gz")) as archive:
            archive.extractall(folder, filter="data")
    return root


def of_math_verify(root: Path) -> list[Case]:
    """Return the rows of all `parametrize` with a gold, a prediction and what is expected."""
    found = []
    for path in sorted((root / "tests").glob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and ast.unparse(node.func).endswith("parametrize")):
                continue
            names = [name.strip() for name in str(ast.literal_eval(node.args[0])).split(",")]
            if names[:2] == ["gold", "pred"] and names[2:] in (["expected"], ["result"]):
                rows = eval(ast.unparse(node.args[1]), {"math": math})
                found += [Case(gold, answer, bool(right)) for gold, answer, right in rows]
    return found


def of_tinker_cookbook(root: Path) -> list[Case]:
    """Return the calls of `grade_answer(given, gold)` whose result is asserted."""
    path = root / "tinker_cookbook" / "recipes" / "math_rl" / "math_env_test.py"
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Compare) and ast.unparse(node.left).startswith("grade_answer("):
            assert isinstance(node.left, ast.Call)
            answer, gold = (ast.literal_eval(each) for each in node.left.args)
            right = ast.literal_eval(node.comparators[0])
            found += [Case(gold, answer, right)] if answer is not None else []
    return found


def of_hardverify(path: Path) -> list[Case]:
    """Return a right and a wrong answer for each gold."""
    rows = [json.loads(line) for line in path.open(encoding="utf-8")]
    return [
        Case(
            rf"$\boxed{{{row['ground_truth']}}}$",
            rf"$\boxed{{{row[field]}}}$",
            field == "fn_output",
        )
        for row in rows
        for field in ("fn_output", "tn_output")
    ]


def trl_tests(path: Path, reward: Callable | None) -> tuple[int, list[str]]:
    """Run TRL's tests of its accuracy rewards, or of another function; return those that fail."""
    source = path.read_text(encoding="utf-8").replace("from .testing_utils import", "# ")
    space = {"TrlTestCase": object, "require_math_latex": lambda function: function}
    exec(compile(source, str(path), "exec"), space)
    if reward is not None:
        space |= {"accuracy_reward": reward, "reasoning_accuracy_reward": reward}
    tests, failed = 0, []
    for kind in ("TestAccuracyReward", "TestReasoningAccuracyReward"):
        for name in (name for name in vars(space[kind]) if name.startswith("test_")):
            tests += 1
            try:
                getattr(space[kind](), name)()
            except AssertionError:
                failed.append(name)
    return tests, failed


def by_trl_s_names(completions: list, solution: list[str], **_: object) -> list[float | None]:
    """Our reward with the arguments of TRL's."""
    return trl_reward(completions, solution=solution)


def ours(gold: str, answer: str) -> bool:
    return verify(parse(gold), parse(answer))


def graders(cookbook: Path, only: Sequence[str] = ()) -> Iterator[tuple[str, Grader]]:
    """Yield those graders whose packages are installed, or only some of them."""
    made = {"setrl": lambda: ours, "math_verify": math_verify, "inspect_ai": inspect_ai,
            "lighteval": lighteval, "pylatexenc": lambda: tinker_cookbook(cookbook)}  # fmt: skip
    titles = {"math_verify": "math-verify", "pylatexenc": "tinker-cookbook"}
    for package, make in made.items():
        if package in (only or made) and (package == "setrl" or importlib.util.find_spec(package)):
            yield titles.get(package, package), make()
    if "verl" in (only or ["verl"]) and importlib.util.find_spec("verl"):
        yield "verl, math_reward", verl("math_reward")
        yield "verl, math_dapo", verl("math_dapo")


def math_verify() -> Grader:
    """math-verify, called as its own tests call it."""
    import math_verify as mv

    configs = (mv.LatexExtractionConfig(boxed_match_priority=0), mv.ExprExtractionConfig())
    return lambda gold, answer: mv.verify(mv.parse(gold, configs), mv.parse(answer, configs))


def inspect_ai() -> Grader:
    """inspect_ai's: the functions behind its scorer `math`."""
    from inspect_ai.scorer import _math

    def equal(gold: str, answer: str) -> bool:
        targets, error = _math._parse_targets_worker((gold,))
        return not error and _math._score_answer_worker(answer, targets).status == "correct"

    return equal


def lighteval() -> Grader:
    """lighteval's `extractive_match`, as its metric for golds in LaTeX, which may be plain, too."""
    from lighteval.metrics.dynamic_metrics import MultilingualExtractiveMatchMetric
    from lighteval.metrics.utils.extractive_match_utils import (
        ExprExtractionConfig,
        LatexExtractionConfig,
    )
    from lighteval.models.model_output import ModelResponse
    from lighteval.tasks.requests import Doc

    metric = MultilingualExtractiveMatchMetric(
        precision=5,
        gold_extraction_target=(ExprExtractionConfig(), LatexExtractionConfig()),
        pred_extraction_target=(
            ExprExtractionConfig(),
            LatexExtractionConfig(boxed_match_priority=0),
        ),
    )

    def equal(gold: str, answer: str) -> bool:
        doc = Doc(query="", choices=[gold], gold_index=0)
        return metric.compute(doc=doc, model_response=ModelResponse(text=[answer])) == 1

    return equal


def verl(name: str) -> Grader:
    """verl's `compute_score`, from its file: the package imports torch and Ray."""
    found = importlib.util.find_spec("verl")
    path = Path(found.submodule_search_locations[0]) / "utils" / "reward_score" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    extra = {"strict_box_verify": True} if name == "math_dapo" else {}

    def equal(gold: str, answer: str) -> bool:
        text = answer if r"\boxed" in answer else rf"\boxed{{{answer}}}"
        bare = gold.strip("$").removeprefix(r"\boxed{")
        bare = bare.removesuffix("}") if bare != gold.strip("$") else bare
        score = module.compute_score(text, bare, **extra)
        return (score["acc"] if isinstance(score, dict) else score) == 1

    return equal


def of_attacks() -> list[Case]:
    """Return what was written against our grader: wrong answers, and right ones in other forms."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "packages" / "grader" / "tests"))
    import attack_cases

    return [
        Case(rf"$\boxed{{{gold}}}$", rf"$\boxed{{{answer}}}$", right)
        for right, table in ((False, attack_cases.WRONG), (True, attack_cases.RIGHT))
        for cases in table.values()
        for gold, answer in cases
    ]


def growth(grader: Grader, cases: list[Case], calls: int) -> float:
    """Return by how many MB the process has grown in so many calls, after the first tenth."""
    before = 0.0
    for call in range(calls):
        gold, answer, _ = cases[call % len(cases)]
        with suppress(Exception):
            grader(gold, answer.replace("}$", f"+{call}}}$") if call % 2 else answer)
        if call == calls // 10:
            before = memory_mb()
    return memory_mb() - before


def memory_mb() -> float:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 2**20


def used_seconds() -> float:
    """Return the processor seconds of this process, and of the processes that it has started."""
    rows = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            _, parent, _, session, *more = path.read_text().rpartition(")")[2].split()
            used = (int(more[7]) + int(more[8])) / os.sysconf("SC_CLK_TCK")
            rows[path.parent.name] = parent, session, used
    mine = {pid for pid, (parent, *_) in rows.items() if parent == str(os.getpid())}
    below = sum(used for pid, (_, session, used) in rows.items() if mine & {pid, session})
    return time.process_time() + below


def tinker_cookbook(root: Path) -> Grader:
    """tinker-cookbook's: `grade_answer`, after `extract_boxed` if there is a box."""
    path = root / "tinker_cookbook" / "recipes" / "math_rl" / "math_grading.py"
    spec = importlib.util.spec_from_file_location("math_grading", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def equal(gold: str, answer: str) -> bool:
        read = [module.extract_boxed(t) if r"\boxed" in t else t for t in (answer, gold)]
        return bool(module.grade_answer(*read))

    return equal


def counts(grader: Grader, cases: list[Case]) -> tuple[int, int, float, float, list[Case]]:
    """Right and wrong answers accepted, processor seconds, the longest by the clock, mistakes."""
    began, worst, accepted = used_seconds(), 0.0, []
    for case in cases:
        start = time.perf_counter()
        try:
            accepted.append(bool(grader(case.gold, case.answer)))
        except ImportError:  # it has failed before it saw the answer
            raise
        except Exception:  # a grader that fails on an answer does not accept it
            accepted.append(False)
        worst = max(worst, time.perf_counter() - start)
    seconds = used_seconds() - began
    mistakes = [case for case, found in zip(cases, accepted, strict=True) if found != case.right]
    pairs = list(zip(cases, accepted, strict=True))
    right, wrong = (sum(a for c, a in pairs if c.right is kind) for kind in (True, False))
    return right, wrong, seconds, worst, mistakes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("hardverify", type=Path)
    parser.add_argument("--trl", type=Path, help="tests/test_rewards.py of a clone of TRL")
    parser.add_argument("--folder", type=Path, default=Path("runs/graders"))
    parser.add_argument("--show", action="store_true", help="print our mistakes")
    parser.add_argument("--attacks", action="store_true", help="also what attacks our grader")
    parser.add_argument("--only", nargs="*", default=(), help="packages, setrl among them")
    parser.add_argument("--calls", type=int, help="grade so often, and print the memory")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    roots = {package: downloaded(package, options.folder) for package in PACKAGES}
    suites = {
        "HardVerify-Math": of_hardverify(options.hardverify),
        "math-verify 0.9.0's tests": of_math_verify(roots[PACKAGES[0]]),
        "tinker-cookbook 0.6.1's tests": of_tinker_cookbook(roots[PACKAGES[1]]),
    }
    shown = []
    if options.attacks:
        suites["attacks on our grader"] = of_attacks()
    heads = f"{'right accepted':>16}{'wrong accepted':>16}{'answers / CPU s':>17}{'worst, s':>10}"
    print(f"{'':32}{heads}")
    for title, cases in suites.items():
        right = sum(case.right for case in cases)
        print(f"{title}: {right} right, {len(cases) - right} wrong")
        for name, grader in graders(roots[PACKAGES[1]], options.only):
            *figures, seconds, worst, mistakes = counts(grader, cases)
            rate = len(cases) / max(seconds, 0.01)
            line = f"  {name:30}{figures[0]:16}{figures[1]:16}{rate:17,.0f}{worst:10.2f}"
            print(line, flush=True)
            shown += [(title, case) for case in mistakes if name == "setrl"]
    if options.calls:
        for name, grader in graders(roots[PACKAGES[1]], options.only):
            grown = growth(grader, suites["HardVerify-Math"], options.calls)
            print(f"{options.calls:,} calls of {name}: {grown:+.1f} MB")
    if options.trl and importlib.util.find_spec("trl"):
        report_trl(options.trl)
    if options.show:
        for title, (gold, answer, right) in shown:
            print(f"{title} | {'refused' if right else 'accepted'} | {gold!r} | {answer[-300:]!r}")


def report_trl(path: Path) -> None:
    tests, failed = trl_tests(path, by_trl_s_names)
    print(f"TRL's tests of its rewards, with ours: {tests - len(failed)} of {tests}; not {failed}")
    tests, failed = trl_tests(path, None)
    print(f"  with its own: {tests - len(failed)} of {tests}")


if __name__ == "__main__":
    main()
