"""Commands and options of earlier versions: an error that says what to write now."""

from __future__ import annotations

from setrl.support.errors import ConfigError

COMMANDS = {"plan": "write `setrl train --config CONFIG --dry-run`, which counts tokens and disk"}
"""Command that has gone → what to write."""

SAMPLE = "draw the samples with `setrl sample` first; `setrl evaluate FILE` reads its file"
OPTIONS = {
    "evaluate": {
        **dict.fromkeys(
            ("--checkpoint", "--endpoint", "--model", "--domain", "--task", "--data",
             "--benchmark", "--problems", "--temperature", "--top-p", "--max-tokens", "--chat",
             "--no-chat", "--concurrency", "--seed", "--output"),
            f"is an option of `setrl sample` now: {SAMPLE}",
        ),
        "--samples": f"has gone: write `setrl evaluate FILE` for a file; for a model, {SAMPLE}",
    },
    "compare": {
        "--common": "has gone: problems that only one run has are always left out, and counted",
    },
    "credit": {"--cluster": "is renamed to --strategy"},
}  # fmt: skip
"""Command → option that it no longer has → what became of the option."""


def refuse_moved(arguments: list[str]) -> None:
    """Raise ConfigError if a command line has a command or an option that has gone."""
    if arguments[0] in COMMANDS:
        raise ConfigError(f"`setrl {arguments[0]}` has gone: {COMMANDS[arguments[0]]}")
    moved = OPTIONS.get(arguments[0], {})
    for argument in arguments[1:]:
        option = argument.partition("=")[0].replace("_", "-")
        if option in moved:
            raise ConfigError(f"{option} of `setrl {arguments[0]}` {moved[option]}")
