"""Render the files of a proposed scenario from templates."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from dqa.core.display import dump_row
from dqa.core.text import escape_invisible, shortened, visible
from dqa.loaders.proposal.choices import Choice
from dqa.loaders.proposal.guesses import GUESS
from dqa.loaders.proposal.survey import Survey, SurveyedTable

_COMMENT, _LEFT_OUT = 200, 10
_MANY, _FEW = 1_000, 100
"""With more than `_MANY` candidates, the proposed statement lists only `_FEW` of them."""
_FIGURES = 6
"""The maximum number of a candidate's columns that the context shows."""
_FIGURE_TYPES = ("integer", "decimal", "float", "boolean", "date")
_TEXTS = ("scenario.toml", "tables.toml", "rules.md", "question.txt")
_STATEMENTS = ("candidates", "outcomes", "context")


def render_scenario(survey: Survey, choice: Choice, name: str, question: str) -> dict[str, str]:
    """Return the texts of the files that the user edits, by file name.

    Parameters
    ----------
    survey, choice
        The tables of the database, and the proposed decision.
    name
        The name of the scenario.
    question
        The user's question; may be empty.
    """
    suffix = ".cypher" if survey.is_graph else ".sql"
    values = {
        "guess": GUESS,
        "survey": survey,
        "choice": choice,
        "name": name,
        "suffix": suffix,
        "is_graph": survey.is_graph,
        "question": " ".join(question.split()).replace("$", "$$"),
        "left_out": survey.left_out[:_LEFT_OUT],
        **_statement_values(choice, survey),
    }
    files = [*_TEXTS, *(f"{stem}{suffix}" for stem in _STATEMENTS)]
    return {file: _environment().get_template(f"{file}.j2").render(values) for file in files}


def _statement_values(choice: Choice, survey: Survey) -> Mapping[str, Any]:
    """Return the values for the templates of the statements.

    Dollar signs in names are doubled, because a single dollar sign marks a placeholder.
    """

    def written(name: str) -> str:
        return survey.spelled(name).replace("$", "$$")

    fact, measure = choice.fact, choice.measure
    join = None if fact is None else fact.join
    counted = "*"
    if fact is not None:
        counted = f"f.{written(join.columns[0])}" if join is not None else "f"
    value = f"COUNT({counted})"
    if measure is not None:
        element = "c" if fact is None else "f"
        total = survey.summed(choice.counted, measure, f"{element}.{written(measure)}")
        zero = "0" if choice.counted.column(measure).type == "integer" else "0.0"
        value = f"COALESCE({total}, {zero})"
    figures = [
        column.name
        for column in choice.table.columns
        if column.type in _FIGURE_TYPES and column.name not in (*choice.table.key, choice.column)
    ]
    pairs = () if join is None else join.pairs
    is_cut = choice.count is not None and choice.count > _MANY
    ends = None if fact is None else fact.table.ends
    return {
        "candidate": f"c.{written(choice.column)}",
        "table": written(choice.table.name),
        "few": _FEW if is_cut else None,
        "can_limit": survey.database.dialect != "ansi",
        "fact": None if fact is None else written(fact.table.name),
        "same": " AND ".join(f"f.{written(own)} = c.{written(other)}" for own, other in pairs),
        "other": None if ends is None or fact is None else written(ends[int(fact.outward)]),
        "counted": counted,
        "value": value,
        "figures": [written(name) for name in figures[:_FIGURES]],
    }


@cache
def _environment() -> Environment:
    environment = Environment(  # noqa: S701  (plain texts)
        loader=PackageLoader(__package__),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "toml": _toml,
        "tomls": lambda texts: f"[{', '.join(map(_toml, texts))}]",
        "visible": visible,
        "short": lambda text: shortened(text, _COMMENT),
        "samples": lambda column: visible(dump_row(column.samples)[1:-1]),
        "dollars": lambda text: text.replace("$", "$$"),
        "ends": _end_columns,
    }
    environment.globals["column_type"] = _column_type
    return environment


def _toml(text: str) -> str:
    """Return a text as a TOML string on one line, with control characters escaped."""

    def spell(sign: str) -> str:
        code = ord(sign)
        if 0xD800 <= code < 0xE000:  # a lone surrogate, which TOML cannot contain
            return "\\uFFFD"
        return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"

    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escape_invisible(escaped, spell=spell)}"'


def _column_type(survey: Survey, label: str, key: str) -> str:
    """Return the type of a column of a node label."""
    node = survey.table(label)
    return "text" if node is None else node.column(key).type


def _end_columns(edge: SurveyedTable, survey: Survey) -> list[tuple[str, str, str]]:
    """For both ends of a relationship type, return the label, its key and an unused column name."""
    names = {column.name for column in edge.columns}
    found: list[tuple[str, str, str]] = []
    for role, label in zip(("source", "target"), edge.ends or (), strict=True):
        node = survey.table(label)
        key = name = node.key[0] if node is not None else "id"
        while name in names:
            name = f"{role}_{name}"
        names.add(name)
        found.append((label, key, name))
    return found
