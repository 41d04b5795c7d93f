"""Render the prompts of a method, and normalise names for prompts and comparisons."""

from __future__ import annotations

import json
import unicodedata
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Template


def fill_in(package: str, name: str, **values: Any) -> str:  # noqa: ANN401  (values of the template)
    """Render the template ``prompts/NAME.md`` of a package.

    The filter ``line`` puts a value on one line, ``quoted`` marks each line of a text, and ``json``
    writes a value as JSON.
    """
    return _template(package, name).render(values).strip()


def on_one_line(value: object) -> str:
    """Return a value as text on one line, without any kind of line break."""
    return " ".join(str(value).split())


def fold(name: object) -> str:
    """Return a name for comparisons, without case, repeated spaces and Unicode variants."""
    return unicodedata.normalize("NFKC", on_one_line(name)).casefold()


@cache
def _template(package: str, name: str) -> Template:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # commands without prompts

    environment = Environment(  # noqa: S701  (text for a model, not a page)
        loader=PackageLoader(package, "prompts"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # A name from data or a model must not begin a line, because it could look like a heading.
    environment.filters["line"] = lambda value: on_one_line(value) or '""'
    environment.filters["quoted"] = _quote
    environment.filters["json"] = lambda value: json.dumps(value, ensure_ascii=False)
    return environment.get_template(f"{name}.md")


def _quote(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())
