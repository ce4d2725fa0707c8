"""`setrl judge`, and what it shares with `setrl judge-audit`: a log, and a judge by its options."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tyro.conf import Positional

from setrl.cli.output import Said
from setrl.cli.shared_options import LogFields
from setrl.logs.log import open_log
from setrl.support.errors import ConfigError, DataError, RunError, usage_errors
from setrl.support.files import refuse_own_input

if TYPE_CHECKING:
    from setrl.judges.base import Judge

# The retry rule if a config has none: the command ends when a server answers nearly no group.
NO_ANSWERS = {"max_share": 0.95, "at_least": 32}


@dataclass(frozen=True, kw_only=True)
class JudgeOptions(LogFields, Said):
    """A log and its judge.

    Attributes:
        file: The samples: a log, or the folder of another tool's log (docs/importing.md).
        judge: {judges}; its first setting may follow, such as oracle:DOMAIN or lm:MODEL.
        config: A YAML file with the settings of the judge, including the key judge; or a config
            with the key task, whose strategy is a judge.
        endpoint: The address of an OpenAI-compatible server, for lm, such as
            http://localhost:8000/v1.
        model: The name of the model.
        style: The instructions for lm: {styles}, or the path of your own file.
        threshold: The cosine distance for embedding.
        allow_damaged: Leave out lines that cannot be read, and count them, instead of stopping.
    """

    file: Positional[Path]
    judge: str | None = None
    config: Path | None = None
    endpoint: str | None = None
    model: str | None = None
    style: str | None = None
    threshold: float | None = None
    cache: Path | None = None
    output: Path | None = None
    allow_damaged: bool = False

    def settings(self, cache: Path) -> dict[str, Any]:
        """Return the settings of the judge, from its name or YAML file and the options.

        A language model that cannot be reached ends the command, unless its settings have a
        retry rule.

        Args:
            cache: Where a language model keeps its judgements, unless the user names a file.

        Raises:
            ConfigError: If neither or both are given, or the name or the file is wrong.
        """
        named = _named_judge_settings(self.judge, self.config)
        given = {key: getattr(self, key) for key in ("endpoint", "model", "style", "threshold")}
        settings = named | {key: value for key, value in given.items() if value is not None}
        if settings.get("judge") == "lm":
            defaults = {"retry_rule": NO_ANSWERS, "cache": self.cache or cache}
            settings = defaults | settings
        return settings


def _named_judge_settings(judge: str | None, config: Path | None) -> dict[str, Any]:
    """Return the settings that a judge's name or its YAML file stands for."""
    from setrl.judges.config import spelled_out
    from setrl.support.files import strict_yaml

    if judge is not None and config is None:
        with usage_errors():
            return spelled_out(judge)
    if judge is None and config is not None:
        values = strict_yaml.read(config)[0]
        return _judge_settings_of_task(config) if "task" in values else values
    raise ConfigError("name the judge with --judge, or its YAML file with --config")


def _judge_settings_of_task(config: Path) -> dict[str, Any]:
    """Return the settings of the judge of a config's task.

    Raises:
        ConfigError: If the task has no judge.
    """
    from setrl.judges.config import spelled_out
    from setrl.tasks import read_config

    judge = read_config(config).strategy.judge
    if judge is None:
        raise ConfigError(
            f"{config}: the strategy of the task is not a judge: write strategy: {{judge: …}}"
        )
    with usage_errors():
        return spelled_out(judge) if isinstance(judge, str) else dict(judge)


@contextmanager
def opened_judge(settings: Mapping[str, Any]) -> Iterator[Judge]:
    """Return the judge of some settings, closed at the end.

    Raises:
        ConfigError: If the settings are wrong, or a package is missing.
    """
    from setrl.judges.config import from_config

    with usage_errors(TypeError, ImportError, OSError):
        judge = from_config(_settings_for_reachable(settings))
    with closing(judge):
        yield judge


def _settings_for_reachable(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the same settings, unless nothing listens where a language model should be.

    Then each question is asked once, as earlier judgements may be all that is needed.

    Raises:
        RunError: If nothing was judged earlier.
    """
    from setrl.models.served.client import refuse_missing_package
    from setrl.models.served.endpoint import refuse_unreachable

    reachable = dict(settings)
    if isinstance(reachable.get("of"), Mapping):
        reachable["of"] = _settings_for_reachable(reachable["of"])
    if reachable.get("judge") == "lm" and re.match("https?://.", str(reachable.get("endpoint"))):
        refuse_missing_package()
        try:
            refuse_unreachable(reachable["endpoint"])
        except RunError as error:
            if not Path(reachable.get("cache") or "").is_file():
                raise
            print(f"note: {error}; until then only {reachable['cache']} answers", file=sys.stderr)
            reachable["limits"] = {**reachable.get("limits", {}), "attempts": 1}
    return reachable


@dataclass(frozen=True, kw_only=True)
class JudgeLog(JudgeOptions):
    """Label logged samples with their strategy.

    Run the same command again to resume: lm keeps its judgements, and other judges begin again. The
    exit code is 3 if more groups than --max-unknown have no labels at the end.

    Attributes:
        cache: The SQLite file with lm's judgements; next to the output by default.
        output: The file for the labelled lines; FILE.judged.jsonl by default.
        into: The key of a sample's label.
        max_unknown: The share of groups that may stay without labels, in [0, 1].

    Json:
        judge: The name of the judge, with its settings.
        output: The file with the labelled lines.
        groups: The number of groups.
        unknown: Reason → the number of groups without labels.
        samples: The number of samples.
        without_text: The number of samples whose text is unknown, and so their label.
        degenerate: The number of samples without a strategy.
        strategies: The number of strategies of all judged groups together.
    """

    into: str = "strategy"
    max_unknown: float = 0.1

    resumes = True  # after an interruption

    def run(self) -> None:
        """Label the file and print a summary to stderr.

        Raises:
            ConfigError: If a setting is wrong.
            DataError: If a file is wrong, or more groups than that share are unknown.
        """
        from setrl.cli.labelling import label_log

        output = self.output or self.file.with_name(f"{self.file.stem}.judged.jsonl")
        settings = self.settings(cache=output.with_suffix(".sqlite"))
        refuse_own_input(output, self.file, self.config)
        if not 0 <= self.max_unknown <= 1:
            raise ConfigError(f"--max-unknown must be in [0, 1], got {self.max_unknown}")
        log = open_log(self.file, self.log_options, ["text", "prompt"])
        with opened_judge(settings) as judge:
            self.say([log.head])
            labelled = label_log(log, output, judge, self.into)
        self.note(log.notes())
        if self.json:
            self.say_json(judge=judge.name, output=str(output), **asdict(labelled))
        else:
            print(f"{judge.name}: {labelled.summary()}\n{output}", file=sys.stderr)
        unknown = labelled.unknown.total()
        if unknown > self.max_unknown * labelled.groups:
            raise DataError(
                f"{unknown} of {labelled.groups} groups are unknown, more than --max-unknown "
                f"allows ({self.max_unknown:g}); the same command asks about them again"
            )
