"""Where a release keeps what, for its reader and for the writer of the same layout.

A scenario's folder says which files are its own (``[release]`` of ``scenario.toml``); everything
else is the layout that the DQA release has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, create_model

from dqa.core.errors import DataError
from dqa.core.situation import Schema, Situation
from dqa.loaders.release_rendering import render_cypher, render_sql
from dqa.loaders.release_scripts import Parsed, parse_cypher, parse_sql
from dqa.scenarios.base import Scenario
from dqa.scenarios.catalogue import scenarios
from dqa.scenarios.document import ReleasePart

Form: TypeAlias = Literal["relational", "graph", "mysql", "postgres"]


@dataclass(frozen=True, slots=True)
class DatabaseForm:
    """One of the two forms in which the release holds each database.

    Attributes
    ----------
    folder
        Folder of its files, below a scenario's ``queries``.
    suffix
        Ending of its files.
    parse, render
        A file's text to a situation, and back.
    """

    folder: str
    suffix: str
    parse: Callable[[str, Schema, Path], Parsed]
    render: Callable[[Situation], str]


FORMS: Mapping[Form, DatabaseForm] = {
    "relational": DatabaseForm("SQL_format", ".sql", parse_sql, render_sql),
    "graph": DatabaseForm("LPG_format", ".cql", parse_cypher, render_cypher),
}


@dataclass(frozen=True)
class ScenarioLayout:
    """Where a scenario's questions and databases are, and the fields of an entry.

    Attributes
    ----------
    scenario
        Whose they are; its name is that of its folder below ``data``.
    release
        The scenario's description of them.
    """

    scenario: Scenario
    release: ReleasePart

    @property
    def name(self) -> str:
        """The scenario's name."""
        return self.scenario.name

    @property
    def stem(self) -> str:
        """Format of a database file's stem over a question's entry."""
        return self.release.database

    @property
    def target(self) -> tuple[str, ...]:
        """Keys of an entry that make a question's target."""
        return tuple(self.scenario.parameters)

    @cached_property
    def optional(self) -> tuple[str, ...]:
        """Those of them that an entry may leave empty."""
        return tuple(key for key, found in self.scenario.parameters.items() if found.optional)

    @cached_property
    def references(self) -> tuple[tuple[str, str, str], ...]:
        """Target keys whose value has to be in a table: ``(key, table, column)``."""
        return tuple(
            (key, parameter.table, parameter.column)
            for key, parameter in self.scenario.parameters.items()
            if parameter.table is not None
            and parameter.column is not None
            and not parameter.where
            and parameter.type != "list"
        )

    @cached_property
    def answer(self) -> type[str | int]:
        """Type of the official answer."""
        return int if self.scenario.candidate_type == "integer" else str

    @cached_property
    def entry(self) -> type[BaseModel]:
        """The model of an entry in the file of questions, which may have more fields."""
        required: dict[str, type] = {
            "question_num": int,
            "question": str,
            "business_rules": str,
            "answer": self.answer,
            **dict.fromkeys((key for key in self.target if key not in self.optional), str),
            **({"outcomes": dict} if self.recorded else {}),
        }
        fields: dict[str, Any] = {name: (kind, ...) for name, kind in required.items()}
        return create_model("Entry", __config__=ConfigDict(strict=True), **fields)

    @property
    def recorded(self) -> bool:
        """Whether an entry tells, under ``outcomes``, what each candidate leads to."""
        return self.scenario.outcomes.source == "recorded"

    @property
    def per_question(self) -> bool:
        """Whether each question has a database file of its own."""
        return "{question_num}" in self.stem

    @property
    def database_key(self) -> str:
        """The target key whose value names the database, where several questions share one."""
        return self.stem.strip("{}")

    def questions_file(self, folder: Path) -> Path:
        """Return the path of the file of questions in a release."""
        return folder / "data" / self.name / "questions" / self.release.questions

    def database_folder(self, folder: Path, form: Form) -> Path:
        """Return the folder of the database files of one form in a release."""
        return folder / "data" / self.name / "queries" / FORMS[form].folder

    def database_file(self, folder: Path, form: Form, entry: Mapping[str, Any]) -> Path:
        """Return the database file of a question's entry."""
        return self.database_folder(folder, form) / self.database_name(form, entry)

    def database_name(self, form: Form, entry: Mapping[str, Any]) -> str:
        """Return the name of the database file of a question's entry."""
        return self.stem.format_map(entry) + FORMS[form].suffix


@cache
def layout_of(scenario: Scenario) -> ScenarioLayout:
    """Return the layout of a scenario's files in a release.

    Raises
    ------
    DataError
        No release holds the scenario.
    """
    release = scenario.release
    if release is None:
        raise DataError(
            f"The scenario '{scenario.name}' says nothing of a release: add [release] to its "
            "scenario.toml."
        )
    return ScenarioLayout(scenario, release)


def layouts() -> dict[str, ScenarioLayout]:
    """Return the layouts of all known scenarios that a release can hold, by name, in order."""
    return {found.name: layout_of(found) for found in scenarios() if found.release is not None}
