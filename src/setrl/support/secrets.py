"""Passwords and keys in addresses and settings: found by name, refused, or not shown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

HIDDEN = "[secret]"
_NAME = (r"(?:[\w-]*[_-])?(?:api[_-]?key|(?:access|auth|bearer|id|refresh)[_-]?token|token|secret"
         r"|password|passwd|authorization|credentials)")  # fmt: skip
_SETTING = re.compile(
    rf"""(?P<name>(?<![\w$-])["']?{_NAME}["']?\s*:[ \t]*)"""
    r"""(?P<value>"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^\s"'{\[|>$#][^,}\]\n]*)""",
    re.IGNORECASE,
)
_USER = re.compile(r"(?<=://)[^\s/?#]*@")
_QUERY = re.compile(rf"(?P<name>[?&](?:{_NAME}|key|sig)=)[^\s&#\"']+", re.IGNORECASE)


def is_secret(name: str) -> bool:
    """Return whether a setting of this name holds a key or a password.

    >>> is_secret("api_key"), is_secret("OPENAI_API_KEY"), is_secret("max_tokens")
    (True, True, False)
    """
    return re.fullmatch(_NAME, name, re.IGNORECASE) is not None


def is_reference(value: Any) -> bool:
    """Return whether a value names an environment variable, such as $MY_KEY."""
    return isinstance(value, str) and re.fullmatch(r"\$[A-Za-z_]\w*", value) is not None


def secrets_in(settings: Any, before: str = "") -> Iterator[str]:
    """Yield the paths of settings that hold a secret itself, and not the name of a variable.

    >>> [*secrets_in({"a": {"api_key": "sk-1"}, "token": "$MY_TOKEN"})]
    ['a.api_key']
    """
    if isinstance(settings, Mapping):
        for name, value in settings.items():
            path = f"{before}{name}"
            if is_secret(str(name)) and value is not None and not is_reference(value):
                yield path
            else:
                yield from secrets_in(value, f"{path}.")
    elif isinstance(settings, list | tuple):
        for value in settings:
            yield from secrets_in(value, before)


def has_user(url: str) -> bool:
    """Return whether an address holds a user, or a user and a password."""
    return "@" in urlsplit(url).netloc


def without_secrets(text: str) -> str:
    """Return a text for other people: a config, a command or an address without its secrets.

    >>> without_secrets("https://me:pass@host/v1?api-version=1&key=abc")
    'https://[secret]@host/v1?api-version=1&key=[secret]'
    >>> without_secrets("judge: {api_key: sk-1, max_tokens: 3, api_key_variable: KEY}")
    'judge: {api_key: "[secret]", max_tokens: 3, api_key_variable: KEY}'
    """
    text = _SETTING.sub(rf'\g<name>"{HIDDEN}"', text)
    return _QUERY.sub(rf"\g<name>{HIDDEN}", _USER.sub(f"{HIDDEN}@", text))
