"""The layout of a release, for its reader and its writer.

``[release]`` in a ``scenario.toml`` names the files of the scenario. Everything else in the layout
is fixed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, create_model

from dqa.core.situation import Schema, Situation
from dqa.loaders.release_rendering import render_cypher, render_sql
from dqa.loaders.release_scripts import Parsed, parse_cypher, parse_sql
from dqa.scenarios.base import Scenario
from dqa.scenarios.catalogue import scenarios
from dqa.scenarios.document import ReleasePart

Form: TypeAlias = Literal["relational", "graph", "mysql", "postgres"]


@dataclass(frozen=True, slots=True)
class DatabaseForm:
    """One of the two forms of a database in a release: SQL or Cypher.

    Attributes
    ----------
    folder
        The folder of the files, below the scenario's folder ``queries``.
    suffix
        The ending of the files.
    parse, render
        `parse` converts the text of a file to a situation, and `render` converts a situation to
        text.
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
    """Where a release stores a scenario's questions and databases. An entry is one stored question.

    Attributes
    ----------
    scenario
        The scenario. Its folder in ``data`` has the same name.
    release
        The part ``[release]`` of ``scenario.toml``, which describes the scenario's files.
    """

    scenario: Scenario
    release: ReleasePart

    @property
    def name(self) -> str:
        """The scenario's name."""
        return self.scenario.name

    @cached_property
    def required(self) -> tuple[str, ...]:
        """The parameters of the question that an entry must contain."""
        return tuple(key for key, one in self.scenario.parameters.items() if not one.optional)

    @cached_property
    def references(self) -> tuple[tuple[str, str, str], ...]:
        """The parameters whose values occur in a column, each as (parameter, table, column)."""
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
        """The type of the official answer."""
        return int if self.scenario.candidate_type == "integer" else str

    @cached_property
    def entry(self) -> type[BaseModel]:
        """The pydantic model of an entry in the file of questions. Entries may have more fields."""
        kinds: dict[str, type] = {"question_num": int, "question": str, "business_rules": str}
        kinds |= {"answer": self.answer, **dict.fromkeys(self.required, str)}
        if self.is_recorded:
            kinds["outcomes"] = dict
        fields: dict[str, Any] = {name: (kind, ...) for name, kind in kinds.items()}
        return create_model("Entry", __config__=ConfigDict(strict=True), **fields)

    @property
    def is_recorded(self) -> bool:
        """Whether the entries in the file of questions contain the ``outcomes`` of candidates."""
        return self.scenario.outcomes.source == "recorded"

    @property
    def database_key(self) -> str | None:
        """The parameter that names the database; None if each question has its own database."""
        name = self.release.database
        return None if "{question_num}" in name else name.strip("{}")

    def questions_file(self, folder: Path) -> Path:
        """Return the path of the file of questions in a release."""
        return folder / "data" / self.name / "questions" / self.release.questions

    def database_folder(self, folder: Path, form: Form) -> Path:
        """Return the folder of the database files of one form in a release."""
        return folder / "data" / self.name / "queries" / FORMS[form].folder

    def database_file(self, folder: Path, form: Form, entry: Mapping[str, Any]) -> Path:
        """Return the database file of a question's entry."""
        name = self.release.database.format_map(entry) + FORMS[form].suffix
        return self.database_folder(folder, form) / name


def layouts() -> dict[str, ScenarioLayout]:
    """Return the layouts of all known scenarios with ``[release]``, by scenario name."""
    found = ((one, one.document.release) for one in scenarios())
    return {one.name: ScenarioLayout(one, part) for one, part in found if part is not None}
