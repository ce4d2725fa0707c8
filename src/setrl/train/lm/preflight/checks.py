"""What `setrl train` checks before it writes anything: model, problems, prompts, judges, fields."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from setrl.models.folder import is_adapter
from setrl.models.local import load_config, load_tokenizer, refuse_missing_model
from setrl.models.served.endpoint import refuse_unreachable
from setrl.support.errors import ConfigError
from setrl.train.gathering.judging import make_judge
from setrl.train.lm.resolved import ResolvedArm, ResolvedConfig
from setrl.train.lm.trl_arguments import check_adapter, check_trainer_options, training_prompts

SEED = 0  # of the problems that are looked at; other seeds draw others of the same kind


def check_before_training(resolved: ResolvedConfig) -> None:
    """Refuse, before anything is written, what would fail once training has started."""
    config = resolved.config
    check_trainer_options(resolved)
    check_model(config.model)
    check_adapter(config.peft, config.model)
    check_problems(resolved)
    model = config.model
    if model is not None and (faults := prompts_too_long(resolved, model, _list_prompts(resolved))):
        raise ConfigError(faults[0])
    check_judges(resolved.arms.values())


def check_model(model: str | None) -> None:
    """Refuse a model that does not exist."""
    if model is None:
        return
    try:
        refuse_missing_model(model)
    except ConfigError as error:
        raise ConfigError(f"model: {error}") from error
    if is_adapter(model):
        raise ConfigError(
            f"model: {model} is an adapter: merge it into its model first "
            "(merge_and_unload of PEFT), and give that folder"
        )


def check_problems(resolved: ResolvedConfig) -> None:
    """Refuse more problems than the task has, and columns that its problems lack."""
    task = resolved.task
    problems = resolved.training_problems(resolved.config.seeds[0])
    model = resolved.config.model
    is_chat = model is not None and resolved.form.is_chat(load_tokenizer(model))
    columns = training_prompts(task, problems, is_chat=is_chat).column_names
    _check_columns(resolved.arms.values(), columns, task.name)
    for split in resolved.eval_splits:
        task.problems(split, resolved.eval_problems(split), SEED)


def _check_columns(arms: Iterable[ResolvedArm], columns: list[str], task: str) -> None:
    sources = {source for arm in arms for source in arm.fields.values() if isinstance(source, str)}
    for column in sorted(sources - set(columns)):
        raise ConfigError(
            f"fields: the problems of {task} have no column {column!r}; they have "
            f"{', '.join(columns)}"
        )


def prompts_too_long(resolved: ResolvedConfig, model: str, prompts: Iterable[str]) -> list[str]:
    """Say which prompts the model cannot read whole; nothing if it can read all.

    Raises:
        ConfigError: If the model has no chat template, and needs one.
    """
    tokenizer, form = load_tokenizer(model), resolved.form
    form.is_chat(tokenizer)
    context = context_length(model)
    if context is None:
        return []
    room = context - resolved.sample_tokens
    around = len(form.token_ids("", tokenizer)) + 1
    # A token has at least one byte, so that only long prompts are tokenized.
    long_prompts = [prompt for prompt in prompts if len(prompt.encode()) + around > room]
    lengths = {prompt: len(form.token_ids(prompt, tokenizer)) for prompt in long_prompts}
    return [
        f"the prompt {prompt[:60]!r}… of {resolved.task.name} has {length} tokens; with "
        f"{resolved.sample_tokens} new ones that is more than the {context} of the model's "
        "context: leave it out, or set max_new_tokens lower"
        for prompt, length in lengths.items()
        if length > room
    ]


def _list_prompts(resolved: ResolvedConfig) -> list[str]:
    """Return the different prompts of training and evaluation."""
    prompts = [problem.prompt for problem in resolved.training_problems(SEED)]
    for split in resolved.eval_splits:
        chosen = resolved.task.problems(split, resolved.eval_problems(split), SEED)
        prompts += [problem.prompt for problem in chosen.problems]
    return list(dict.fromkeys(prompts))


def context_length(model: str) -> int | None:
    """Return the largest number of tokens that a model reads, if its config says so."""
    config = load_config(model).get_text_config()
    return getattr(config, "max_position_embeddings", None)


def check_judges(arms: Iterable[ResolvedArm]) -> None:
    """Refuse judges that cannot be made, or whose server does not answer; no cache is opened."""
    for arm in arms:
        spec = _remove_caches(arm.judge)
        try:
            if spec is not None:
                with tempfile.TemporaryDirectory() as folder:
                    make_judge(spec, Path(folder)).close()
                refuse_unreachable_judge(spec)
        except (ValueError, ImportError) as error:
            raise ConfigError(f"arms.{arm.name}.judge: {error}") from error


def _remove_caches(spec: Any) -> Any:
    """Return the settings of a judge, and of the judges that it asks, without the key `cache`."""
    if isinstance(spec, Mapping):
        return {key: _remove_caches(value) for key, value in spec.items() if key != "cache"}
    return [_remove_caches(part) for part in spec] if isinstance(spec, list) else spec


def refuse_unreachable_judge(spec: Any) -> None:
    """Open a connection to the server of a judge, and of the judges that it asks, and close it.

    Raises:
        RunError: If nothing answers, before many requests have waited for it.
    """
    if not isinstance(spec, Mapping):
        return
    if "endpoint" in spec:
        refuse_unreachable(spec["endpoint"])
    refuse_unreachable_judge(spec.get("of"))
