"""Other projects' tests with set credit: `python -m tests.upstream.run trl --source CLONE`.

A suite runs with a plug-in that puts our class in the place of theirs. Tests that fail then run
again without it. What fails only with it is a difference: one that `KNOWN` explains, or a fault,
and then the exit code is 1. What fails without it, too, needs the hub, a GPU, or another package.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tarfile
import tempfile
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
TRL = "https://github.com/huggingface/trl"
SUITES = ("trl", "sb3", "sb3-vines")
SDE = "gSDE is refused with vines: its noise belongs to one trajectory"
NORMAL = "VecNormalize is refused with vines: it does not reach their environments"
STACK = "VecFrameStack is refused with vines: it does not reach their environments"
COPY = "the plug-in cannot copy an environment out of this VecEnv; the model was not made"
STEPS = "the test counts the steps of a rollout; with vines episodes stay whole"
KNOWN: dict[str, dict[str, str]] = {  # suite → test → why it fails only with set credit
    "trl": {},
    "sb3": {},
    "sb3-vines": {
        "test_sde.test_state_dependent_noise": SDE,
        "test_distributions.test_squashed_gaussian": SDE,
        "test_save_load.test_save_load_policy": SDE,
        "test_dict_env.test_dict_vec_framestack": STACK,
        "test_dict_env.test_vec_normalize": NORMAL,
        "test_cnn.test_image_like_input": NORMAL,
        "test_dict_env.test_multiprocessing": COPY,
        "test_vec_extract_dict_obs.test_vec_with_ppo": COPY,
        "test_gae.test_gae_computation": STEPS,
        "test_callbacks.test_callbacks": STEPS,
        "test_save_load.test_set_env": STEPS,
        "test_identity.test_discrete": "75 of 90 points in as many steps of training",
    },
}


@dataclass(frozen=True)
class Found:
    """How the tests of a suite ended.

    Attributes:
        passed: The number that passed with set credit.
        known: Tests that fail only with set credit, for a reason that we know.
        faults: Those that fail only with set credit, otherwise.
        theirs: The number that fails without set credit, too.
        tests: Where the tests come from.
    """

    passed: int
    known: list[str]
    faults: list[str]
    theirs: int
    tests: str


def main() -> int:
    """Run one suite in the environment of this Python, and print how it ended."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("--source", default=TRL, help="a clone of TRL, or its address")
    parser.add_argument("-k", dest="chosen", help="as for pytest")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        found = run(given.suite, Path(made), given.source, given.chosen)
    for test in found.known:
        print(f"  differs: {test}: {KNOWN[given.suite][test.partition('[')[0]]}")
    for test in found.faults:
        print(f"  FAILS only with set credit: {test}")
    print(
        f"{given.suite}, tests of {found.tests}: {found.passed} passed, {len(found.known)} differ, "
        f"{len(found.faults)} faults, {found.theirs} fail without set credit, too"
    )
    return 1 if found.faults else 0


def run(suite: str, folder: Path, source: str, chosen: str | None = None) -> Found:
    """Run a suite in a folder, with set credit and then its failures without it."""
    if suite == "trl":
        from tests.upstream import hub

        tests, origin = trl_tests(folder / "trl", source)
        suite_file = tests / "test_grpo_trainer.py"
        suite_file.write_text(hub.renumber(suite_file.read_text()))
        arguments = [str(suite_file), "-p", "older_tests"]
        work, plugin = hub.make(folder / "hub"), "with_credit"
    else:
        tests, origin = sb3_tests(folder / "sb3")
        arguments = [str(tests), "-k", "PPO" if chosen is None else chosen]
        work, plugin = folder, "with_vines"
    if chosen is not None and suite == "trl":
        arguments += ["-k", chosen]
    os.environ["SETRL_VINES"] = str(int(suite == "sb3-vines"))
    cache = ["-o", f"cache_dir={folder / 'cache'}"]
    passed, failed = pytest([*arguments, *cache, "-p", plugin], work)
    last_failed = [*arguments, *cache, "--lf", "--lfnf=none"]
    theirs = pytest(last_failed, work)[1] if failed else []
    differ = [test for test in failed if test not in theirs]
    known = [test for test in differ if test.partition("[")[0] in KNOWN[suite]]
    faults = [test for test in differ if test not in known]
    return Found(len(passed), known, faults, len(theirs), origin)


def pytest(arguments: list[str], work: Path) -> tuple[list[str], list[str]]:
    """Run pytest and return the names of the tests that passed and failed."""
    report = work / "report.xml"
    command = [sys.executable, "-m", "pytest", "-q", "--tb=line", f"--junitxml={report}"]
    path = os.pathsep.join(map(str, (HERE, ROOT / "src")))
    # A cache of its own: the user's may hold data sets of these names from the hub.
    offline = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(work / "cache")}
    settings = {"PYTHONPATH": path, "OMP_NUM_THREADS": "1", **offline}
    ended = subprocess.run(
        [*command, *arguments],
        cwd=work,
        env={**os.environ, **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if ended.returncode not in (0, 1, 5):
        sys.exit(ended.stdout[-5000:])
    results: dict[bool, list[str]] = {True: [], False: []}
    for case in ET.parse(report).iter("testcase"):
        ends = {child.tag for child in case}
        if "skipped" not in ends:
            name = f"{case.get('classname', '').rpartition('.')[2]}.{case.get('name')}"
            results[not ends & {"failure", "error"}].append(name)
    (work / "output.txt").write_text(ended.stdout)
    return results[True], results[False]


def trl_tests(folder: Path, source: str) -> tuple[Path, str]:
    """Take TRL's tests from a clone: those of the installed version, or the newest that it has."""
    tag = f"v{version('trl')}"
    clone = ["git", "clone", "-q", "-c", "advice.detachedHead=false", "--depth", "1"]
    address = source if "://" in source else Path(source).resolve().as_uri()
    for branch in (["--branch", tag], []):
        ended = subprocess.run([*clone, *branch, address, str(folder)], check=False)
        if ended.returncode == 0:
            break
    else:
        sys.exit(f"{source} cannot be cloned: name a clone of TRL with --source")
    stated = (folder / "VERSION").read_text().strip()
    (folder / "trl").rename(folder / "source")  # the installed package is tested
    return folder / "tests", f"TRL {stated}"


def sb3_tests(folder: Path) -> tuple[Path, str]:
    """Take the tests of Stable-Baselines3 from the source distribution of the installed version."""
    number = version("stable-baselines3")
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:"]
    subprocess.run([*command, f"stable-baselines3=={number}", "-d", str(folder)], check=True)
    [archive] = folder.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    [unpacked] = folder.glob("*/tests")
    (unpacked.parent / "stable_baselines3").rename(folder / "source")
    return unpacked, f"Stable-Baselines3 {number}"


if __name__ == "__main__":
    sys.exit(main())
