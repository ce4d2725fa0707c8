"""The command `setrl`: parse → config → call. Everything heavy is imported by the command itself.

Exit codes: 0 all is well, 1 a run failed, 2 wrong usage or config, 3 bad data, 130 interrupted.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal, NoReturn

import tyro

from setrl.errors import ConfigError, DataError, RunError

app = tyro.extras.SubcommandApp()


@app.command
def train(
    config: Path,
    run_dir: Path | None = None,
    overwrite: bool = False,
    set: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = (),
) -> None:
    """Train the arms of a comparison, evaluate them and write the report; resumes by itself.

    Args:
        config: The YAML file of the comparison; see recipes/.
        run_dir: Where the run is written; runs/<name> by default.
        overwrite: Start anew where a run with another config is.
        set: KEY=VALUE, changes one key of the config; can be repeated.
    """
    from setrl.training.comparison import run_comparison
    from setrl.training.config import load_config

    loaded = load_config(config, set)
    page = run_comparison(loaded, run_dir or Path("runs") / loaded.name, overwrite=overwrite)
    print(f"report: {page}")


@app.command
def evaluate(
    checkpoint: Path,
    domain: str,
    split: str = "test",
    problems: int = 100,
    samples: int = 256,
    seed: int = 0,
    output: Path | None = None,
) -> None:
    """Sample a checkpoint and print unbiased pass@k, majority@k and strategies@k.

    Args:
        checkpoint: The folder of a model and its tokenizer.
        domain: polynomial, multiplication or quadratic.
        split: train, test or shifted.
        problems: How many problems.
        samples: How many samples of each, which is the largest k.
        seed: Of the problems and the samples.
        output: Where the samples go (JSONL); <checkpoint>/evaluation/<split>.jsonl by default.
    """
    from setrl.evaluation.command import evaluate_and_print

    path = output or checkpoint / "evaluation" / f"{split}.jsonl"
    evaluate_and_print(checkpoint, domain, split, problems, samples, seed, path)


@app.command
def report(
    run_dir: Annotated[Path, tyro.conf.Positional],
    publish: Path | None = None,
    reference: str = "grpo",
) -> None:
    """Write the report of a run: one self-contained page, and figures.

    Args:
        run_dir: The folder of the run.
        publish: Also write a page in Markdown, with figures and numbers, into this folder.
        reference: The arm that the others are compared with.
    """
    from setrl.report import publish_report, write_report

    if publish is None:
        print(write_report(run_dir, reference))
    else:
        print(publish_report(run_dir, publish, reference))


@app.command
def credit(
    file: Annotated[Path, tyro.conf.Positional],
    method: str = "poly_epo",
    set_size: int | None = None,
    reward: str | None = None,
    cluster: str | None = None,
    group: str | None = None,
    output: Path | None = None,
) -> None:
    """Give every sample of logged groups its advantage.

    Args:
        file: JSON Lines: a group a line, or a sample a line.
        method: One of setrl.methods.
        set_size: K, for methods that have one.
        reward: The key of a sample's reward, where it is not reward, correct or score.
        cluster: The key of its strategy, where it is not cluster, strategy, final or answer.
        group: The key that the samples of a group share, for files of a sample a line.
        output: Where the groups go (JSONL), with advantages; standard output by default.
    """
    from setrl.groups import Keys, credit_file

    options = {} if set_size is None else {"set_size": set_size}
    credit_file(file, {"method": method, **options}, Keys(reward, cluster, group), output)


@app.command
def verify(
    only: Annotated[tuple[str, ...], tyro.conf.Positional] = (),
    json: Path | None = None,
    markdown: Path | None = None,
) -> None:
    """Check every claim of the papers that this library was built from, and print what holds.

    Args:
        only: Starts of the ids of claims, such as "maxpo" or "note-prop"; all of them for none.
        json: Write the findings there.
        markdown: Write the page docs/claims.md there.
    """
    from setrl.theory import ledger

    if only and markdown:
        raise ConfigError("--markdown writes the page of all claims: give no ids with it")
    try:
        ledger.find(*only)
    except ValueError as error:
        raise ConfigError(str(error)) from error
    if not ledger.verify(only, json_path=json, markdown_path=markdown):
        raise RunError("a claim's check does not confirm its verdict; see the table")


@app.command
def experiments(
    study: Annotated[Literal["bandits", "biased_maze", "rollout_trees"], tyro.conf.Positional],
    output: Path = Path("docs/results"),
) -> None:
    """Run a study on exactly known policies, and write its figures and numbers.

    Args:
        study: bandits, biased_maze or rollout_trees; two minutes or less each.
        output: The folder for them.
    """
    from setrl.experiments import bandits, biased_maze, rollout_trees

    if study == "bandits":
        print(bandits.run(bandits.BanditsConfig(), output))
    elif study == "biased_maze":
        print(biased_maze.run(biased_maze.BiasedMazeConfig(), output))
    else:
        print(rollout_trees.run(rollout_trees.RolloutTreesConfig(), output))


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command and leave with its exit code."""
    try:
        app.cli(prog="setrl", args=arguments, config=(tyro.conf.OmitArgPrefixes,))
    except KeyboardInterrupt:
        _leave(130, "interrupted; the same command goes on from the last checkpoint")
    except ConfigError as error:
        _leave(2, str(error))
    except DataError as error:
        _leave(3, str(error))
    except RunError as error:
        _leave(1, str(error))
    sys.exit(0)


def _leave(code: int, message: str) -> NoReturn:
    print(f"setrl: {message}", file=sys.stderr)
    sys.exit(code)
