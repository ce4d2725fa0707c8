"""A page of the lab as one HTML file: style, script and data inside it, and no request to any host.

Scripts and styles are built from `web/` and are part of the package, so that nobody who uses a page
needs Node.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from setrl.train.runs.written import MARK

# Only the scripts that the page came with may run, and nothing may be loaded or sent. Charts set
# styles on their own elements, which no hash can name beforehand.
POLICY = (
    "default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="setrl">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<div id="page"><noscript>This page computes everything in the browser: please allow JavaScript.\
</noscript></div>
<script type="application/json" id="data">{data}</script>
<script>{script}</script>
</body>
</html>
"""


@dataclass(frozen=True)
class Page:
    """A page and what it shows.

    Attributes:
        bundle: The name of its script and style in `bundle/`.
        title: What the browser's tab says.
        data: What the script reads, as JSON.
    """

    bundle: str
    title: str
    data: Any = None

    def html(self) -> str:
        """Return the whole page as one string."""
        parts = embedded(self.bundle, self.data)
        return PAGE.format(
            policy=html.escape(parts.policy, quote=True),
            title=html.escape(self.title),
            style=parts.style,
            data=parts.data,
            script=parts.script,
        )


@dataclass(frozen=True)
class Embedded:
    """What a page puts into its HTML unchanged; only the policy is an attribute, to be escaped.

    Attributes:
        policy: The content-security-policy that allows this script and nothing else.
        style: What stands inside `<style>`.
        script: What stands inside `<script>`.
        data: JSON that stands inside `<script type="application/json" id="data">`.
    """

    policy: str
    style: str
    script: str
    data: str


def embedded(bundle: str, data: Any) -> Embedded:
    """Return a bundle and its data for a page with its own HTML."""
    script, style = _bundle_file(f"{bundle}.js"), _bundle_file(f"{bundle}.css")
    return Embedded(POLICY.format(scripts=_script_hash(script)), style, script, _as_json(data))


def playground() -> Page:
    """Return the page on which a few samples are changed by hand, and every method credits them."""
    return Page("playground", "setrl playground: who gets credit, and why")


def is_page(path: Path) -> bool:
    """Whether a file is a page of setrl, which may be written again."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return MARK.encode() in file.read(2_000)


def _bundle_file(name: str) -> str:
    """Return a file of the bundle, in a form that may stand inside an HTML element."""
    text = files("setrl.show.lab").joinpath("bundle", name).read_text("utf-8").strip()
    # Either would end the element early; the build must not write them.
    if "</script" in text or "</style" in text or "<!--" in text:
        raise AssertionError(f"{name} of the bundle cannot be put inside a page")
    return text


def _as_json(data: Any) -> str:
    """JSON that cannot end the element that it stands in, nor open a comment."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _script_hash(script: str) -> str:
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
