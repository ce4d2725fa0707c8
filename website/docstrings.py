"""Docstrings as Markdown: examples become blocks of code, and equations keep their lines."""

import re
from typing import Any

import griffe
from typing_extensions import override

EXAMPLE = re.compile(r"^ *>>> .*(?:\n.*\S.*)*", re.MULTILINE)  # up to an empty line


def fenced(text: str) -> str:
    """Return the text with every run of lines that begins with `>>>` in a block of code."""
    return EXAMPLE.sub(lambda found: f"```pycon\n{found.group()}\n```", text)


class Examples(griffe.Extension):
    """Put the examples of every docstring into blocks of code."""

    @override
    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Change the docstring of an object that was read."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
