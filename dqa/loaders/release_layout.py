"""Where the DQA release keeps what, for its reader and for the writer of the same layout.

The scenarios of DeLLMa have the same layout here, so that generated questions of every scenario
stand in one folder; their authors' own files are another matter (`dqa_dellma.questions`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from dqa.core.situation import Schema, Situation
from dqa.loaders.assembly import Parsed
from dqa.loaders.cypher_text import parse_cypher, render_cypher
from dqa.loaders.sql_text import parse_sql, render_sql

__all__ = ["FORMS", "LAYOUTS", "DatabaseForm", "Form", "ScenarioLayout"]

Form: TypeAlias = Literal["relational", "graph"]


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


@dataclass(frozen=True, slots=True)
class ScenarioLayout:
    """Where a scenario's questions and databases are, and what a question's entry holds.

    Attributes
    ----------
    scenario
        Name of the scenario, and of its folder below ``data``.
    questions
        Name of the file of questions.
    stem
        Format of a database file's stem over a question's entry.
    target
        Keys of an entry that make a question's target.
    optional
        Those of them that an entry may leave empty.
    references
        Target keys whose value has to stand in a table: ``(key, table, column)``.
    answer
        Type of the official answer.
    constants
        What else every entry holds. It plays no part in reading.
    database
        The target key that names the database, where several questions share one.
    recorded
        Whether an entry tells, under ``outcomes``, what each candidate leads to.
    """

    scenario: str
    questions: str
    stem: str
    target: tuple[str, ...]
    optional: tuple[str, ...]
    references: tuple[tuple[str, str, str], ...]
    answer: type[str | int]
    constants: Mapping[str, str]
    database: str = "country"
    recorded: bool = False

    @property
    def per_question(self) -> bool:
        """Whether each question has a database file of its own."""
        return "{question_num}" in self.stem

    def questions_file(self, folder: Path) -> Path:
        """Return the path of the file of questions in a release."""
        return folder / "data" / self.scenario / "questions" / self.questions

    def database_folder(self, folder: Path, form: Form) -> Path:
        """Return the folder of the database files of one form in a release."""
        return folder / "data" / self.scenario / "queries" / FORMS[form].folder

    def database_file(self, folder: Path, form: Form, entry: Mapping[str, Any]) -> Path:
        """Return the database file of a question's entry."""
        name = self.stem.format_map(entry) + FORMS[form].suffix
        return self.database_folder(folder, form) / name


LAYOUTS: Mapping[str, ScenarioLayout] = {
    layout.scenario: layout
    for layout in (
        ScenarioLayout(
            scenario="locating",
            questions="simulated_question.json",
            stem="q{question_num}",
            target=("country", "home", "year"),
            optional=("year",),
            references=(
                ("country", "country", "country_name"),
                ("home", "trade_node", "trade_node"),
            ),
            answer=str,
            constants={"goal": "", "target_rdb": "", "target_gdb": ""},
        ),
        ScenarioLayout(
            scenario="building",
            questions="simulated_questions.json",
            stem="{country}",
            target=("goods", "country"),
            optional=(),
            references=(("goods", "goods", "goods_name"),),
            answer=int,
            constants={"target_gdb": ""},
        ),
        ScenarioLayout(
            scenario="agriculture",
            questions="questions.json",
            stem="{world}",
            target=("crops", "year", "world"),
            optional=(),
            references=(),
            answer=str,
            constants={},
            database="world",
            recorded=True,
        ),
        ScenarioLayout(
            scenario="stocks",
            questions="questions.json",
            stem="{world}",
            target=("symbols", "since", "buy", "sell", "world"),
            optional=(),
            references=(),
            answer=str,
            constants={},
            database="world",
            recorded=True,
        ),
    )
}
