"""Pages: self-contained HTML files that open anywhere, offline, without scripts from elsewhere."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from dqa.core.errors import UsageError
from dqa.core.files import problem_of_path, write_private
from dqa.core.text import spelt_out
from dqa.report.statements import lay_out


def rendered(package: str, template: str, **values: Any) -> str:  # noqa: ANN401  (any values)
    """Fill in a template of `package`; text in it is never markup, and nothing acts unseen."""
    return _environment(package).get_template(template).render(values)


def write_page(page: str, file: Path) -> None:
    """Write a page for its owner alone to read; `UsageError` where that cannot be done."""
    try:
        write_private(file, page)
    except OSError as error:
        raise UsageError(f"{problem_of_path(file, error, writing=True)}.") from error


@cache
def _environment(package: str) -> Environment:
    environment = Environment(
        loader=PackageLoader(package, "."),
        autoescape=True,
        finalize=_finalized,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["figure"] = _figure
    environment.filters["percent"] = percent
    environment.filters["lay_out"] = lay_out
    return environment


def _figure(number: float | None) -> str:
    return "unknown" if number is None else f"{number:.3g}"


def _finalized(value: object) -> object:
    # Markup that is safe already is a subclass of str.
    return spelt_out(value, kept="\n\t") if type(value) is str else value


def percent(probability: float) -> str:
    """Return a probability in whole percent, and never as certain: it is found from draws."""
    if probability < 0.01:
        return "under 1 %"
    if probability > 0.99:
        return "over 99 %"
    return f"{probability:.0%}".replace("%", " %")
