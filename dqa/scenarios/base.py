"""What a scenario is, and how its folder under ``schemas/`` becomes one.

A scenario's folder holds ``scenario.toml`` (tables and graph mapping), ``rules.md`` (business
rules) and ``question.txt`` (a `string.Template` over the question's target).
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from string import Template
from typing import Any, Literal

from dqa.errors import DataError
from dqa.question import Candidate, Question
from dqa.situation import Column, EdgeSchema, NodeSchema, Schema, Situation, TableSchema

__all__ = ["Scenario", "read_schema", "scenario_folder"]


@dataclass(frozen=True)
class Scenario:
    """A kind of decision question: its data, its rules and how its questions are made.

    Attributes
    ----------
    name
        What commands call it.
    schema
        Tables and graph mapping.
    rules
        The business rules in our own words.
    template
        The question's text, over the keys of a question's target.
    goal
        Whether more or less of the outcome is better.
    unit
        What the outcome is, e.g. "profit".
    candidate_noun
        What is chosen, e.g. "trade node".
    candidates
        Lists a situation's candidates for a target, in table order.
    """

    name: str
    schema: Schema
    rules: str
    template: Template
    goal: Literal["maximise", "minimise"]
    unit: str
    candidate_noun: str
    candidates: Callable[[Situation, Mapping[str, str]], tuple[Candidate, ...]]

    def question(
        self,
        situation: Situation,
        question_id: str,
        target: Mapping[str, str],
        answers: tuple[Candidate, ...] = (),
    ) -> Question:
        """Make a question of this scenario in our own words."""
        return Question(
            scenario=self.name,
            id=question_id,
            text=self.template.substitute(target),
            rules=self.rules,
            situation=situation.name,
            target=target,
            candidates=self.candidates(situation, target),
            answers=answers,
        )


def scenario_folder(name: str) -> Traversable:
    """Return a shipped scenario's folder: inside an installed `dqa`, or beside it in a checkout."""
    installed = files("dqa") / "schemas" / name
    if installed.is_dir():
        return installed
    checkout = Path(__file__).parents[2]
    if (checkout / "pyproject.toml").is_file() and (checkout / "schemas" / name).is_dir():
        return checkout / "schemas" / name
    raise DataError(
        f"The folder of scenario '{name}' is missing from this installation; install dqa again."
    )


@cache
def read_schema(name: str) -> Schema:
    """Read tables and graph mapping from a shipped scenario's ``scenario.toml``."""
    document = tomllib.loads((scenario_folder(name) / "scenario.toml").read_text("utf-8"))
    tables = tuple(_table(table) for table in document["tables"])
    return Schema(
        scenario=name,
        tables=tables,
        nodes=tuple(
            NodeSchema(n["label"], n["table"], n["key"], tuple(n["properties"].items()))
            for n in document["nodes"]
        ),
        edges=tuple(
            EdgeSchema(
                label=e["label"],
                table=e["table"],
                source=(e["source"][0], e["source"][1]),
                target=(e["target"][0], e["target"][1]),
                properties=tuple(e["properties"].items()),
            )
            for e in document["edges"]
        ),
    )


def _table(document: Mapping[str, Any]) -> TableSchema:
    return TableSchema(
        name=document["name"],
        columns=tuple(Column(c["name"], c["type"], c["description"]) for c in document["columns"]),
        key=tuple(document["key"]),
        description=document["description"],
    )
