"""Self-contained HTML pages that work offline."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from dqa.core.files import file_errors, require_new_file, write_private
from dqa.core.text import escape_invisible
from dqa.report.plain import plain

_PLAIN = re.compile(r"[\n\t\x20-\x7e]*")


def rendered(package: str, template: str, **values: Any) -> str:  # noqa: ANN401  (any values)
    """Render a template of `package`. Text is escaped, and invisible characters are spelt out."""
    return _environment(package).get_template(template).render(values)


def drawn_page(
    template: str,
    scripts: Sequence[str],
    blocks: Mapping[str, Any],
    **values: Any,  # noqa: ANN401  (any values)
) -> str:
    """Return a page whose content is drawn by scripts in the browser.

    Parameters
    ----------
    template
        Template of this package that extends ``page/base.html``.
    scripts
        Names of the scripts, in the order of loading.
    blocks
        JSON values that the scripts read, by name.
    **values
        Variables of the template.
    """
    script = '"use strict";\n(() => {\n' + "\n".join(map(_asset, scripts)) + "\n})();\n"
    packed = {}
    for name, value in blocks.items():
        text = page_json(value).encode(errors="replace")
        packed[name] = base64.b64encode(gzip.compress(text, compresslevel=6, mtime=0)).decode()
    more = {"script": Markup(script), "script_hash": _hash(script), "blocks": packed}  # noqa: S704
    return rendered("dqa.report", template, **values, **more)


def write_page(page: str, file: Path | str) -> None:
    """Write a page to a new file that only its owner can read.

    Raise `UsageError` if the file exists already, or cannot be written.
    """
    require_new_file(Path(file))
    with file_errors(file, writing=True):
        write_private(Path(file), page)


def page_json(value: Any) -> str:  # noqa: ANN401  (any JSON value)
    """Return a value as JSON for a page, with invisible characters spelt out."""
    return json.dumps(
        plain(value, _visible), ensure_ascii=False, separators=(",", ":"), allow_nan=False
    )


def percent(probability: float) -> str:
    """Return an estimated probability in whole percent.

    The result is never 0 % or 100 %, because an estimate is not certain.
    """
    if probability < 0.01:
        return "under 1 %"
    if probability > 0.99:
        return "over 99 %"
    return f"{probability:.0%}".replace("%", " %")


def _visible(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else escape_invisible(text, unescaped="\n\t")


@cache
def _environment(package: str) -> Environment:
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package, "."), PackageLoader("dqa.report", ".")]),
        autoescape=True,
        finalize=_finalized,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style = _asset("style.css")
    environment.globals["style"] = Markup(style)  # noqa: S704  (a file of this package)
    environment.globals["style_hash"] = _hash(style)
    environment.filters["figure"] = _figure
    environment.filters["percent"] = percent
    return environment


def _figure(number: float | None) -> str:
    return "unknown" if number is None else f"{number:.3g}"


def _finalized(value: object) -> object:
    # Do not escape `Markup`, a subclass of str, again.
    return _visible(value) if type(value) is str else value


@cache
def _asset(name: str) -> str:
    return (files("dqa.report") / "page" / name).read_text("utf-8")


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
