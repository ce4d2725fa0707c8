"""What setrl wrote in a folder, by name and content, so that it never removes another file."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TypeAlias, Union

# The pattern of a name → whether such a path is ours, or what is ours inside such a folder.
Tree: TypeAlias = Mapping[str, Union[Callable[[Path], bool], "Tree"]]

SAVED_MODEL = (  # what transformers and peft write for a model and its tokenizer
    *("config.json", "generation_config.json"),
    *("model.safetensors", "model-*-of-*.safetensors", "model.safetensors.index.json"),
    *("adapter_config.json", "adapter_model.safetensors", "chat_template.jinja"),
    *("tokenizer.json", "tokenizer_config.json", "tokenizer.model", "special_tokens_map.json"),
    *("added_tokens.json", "vocab.json", "vocab.txt", "merges.txt"),
)


def written(folder: Path, tree: Tree) -> Iterator[Path]:
    """Yield the files, links and whole folders that a tree names; links are not followed."""
    for path in sorted(folder.iterdir()):
        for pattern, ours in tree.items():
            if fnmatchcase(path.name, pattern):
                yield from _paths_of_ours(path, ours)
                break


def _paths_of_ours(path: Path, ours: Callable[[Path], bool] | Tree) -> Iterator[Path]:
    if path.is_symlink():
        yield path
    elif isinstance(ours, Mapping):
        if path.is_dir():
            yield from written(path, ours)
    elif ours(path):
        yield path


def remove_written(folder: Path, tree: Tree) -> None:
    """Remove what a tree names, and then its empty folders; links are never followed."""
    for path in list(written(folder, tree)):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    _remove_empty(folder, tree)


def _remove_empty(folder: Path, tree: Tree) -> None:
    """Remove the empty folders that a tree names inside a folder."""
    for path in list(folder.iterdir()):
        inside = next((tree[pattern] for pattern in tree if fnmatchcase(path.name, pattern)), None)
        if isinstance(inside, Mapping) and path.is_dir() and not path.is_symlink():
            _remove_empty(path, inside)
            if not any(path.iterdir()):
                path.rmdir()
