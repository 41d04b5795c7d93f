"""Read, generate and show questions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from textwrap import indent
from typing import Any

from pydantic import Field

from dqa.api.databases import audit_of, open_database, policy_of
from dqa.core.database import Kind
from dqa.core.question import Candidate
from dqa.core.question_set import QuestionSet
from dqa.core.records import Record
from dqa.core.schema import describe
from dqa.guard import Audit, Policy
from dqa.loaders.custom_question import OwnQuestion
from dqa.loaders.locations import located, whole_url
from dqa.loaders.sources import FormName, NamedSet, OwnQuestions, QuestionFolder

_SHOWN = 1_000
"""The maximum number of outcomes in a text."""


def read_release(
    folder: Path | str,
    *,
    scenarios: tuple[str, ...] | None = None,
    limit: int | None = None,
    form: FormName = "relational",
    strict: bool = False,
) -> QuestionSet:
    """Read the folder of a published benchmark in any of the known layouts.

    Parameters
    ----------
    folder
        The folder of the benchmark.
    scenarios, limit
        The scenarios to read, and the maximum number of questions per scenario; None for all.
    form
        Which databases of the benchmark to read, such as ``"graph"`` for its graph databases.
    strict
        Whether a defect in the data raises an error. Otherwise `QuestionSet.defects` lists each
        defect, and how dqa handled it.

    Raises
    ------
    DataError
        The folder cannot be read.
    UsageError
        No question is selected.
    """
    source = QuestionFolder(
        folder=Path(folder), scenarios=scenarios, limit=limit, form=form, strict=strict
    )
    return source.read()


def read_generated(
    folder: Path | str, *, scenarios: tuple[str, ...] | None = None, limit: int | None = None
) -> QuestionSet:
    """Read a folder that ``dqa data generate`` wrote. Raise `DataError` if a file has changed."""
    return QuestionFolder(
        folder=Path(folder), source="generated", scenarios=scenarios, limit=limit
    ).read()


def read_set(
    name: str, *, scenarios: tuple[str, ...] | None = None, limit: int | None = None
) -> QuestionSet:
    """Generate a named set of questions, and check every situation and question by its hash.

    Raises
    ------
    UnknownNameError
        No installed package has a set with this name. The error lists the known names.
    DataError
        A generated situation or question differs from the set.
    """
    return NamedSet(name=name, scenarios=scenarios, limit=limit).read()


def read_questions(  # noqa: PLR0913  (each is a question of its own to the caller)
    questions: Path | str | Iterable[Mapping[str, Any] | OwnQuestion],
    databases: str | Path | Iterable[str | Path] | Mapping[str, str | Path],
    *,
    name: str = "questions",
    scenario: str | Path | None = None,
    limit: int | None = None,
    policy: Policy | Path | str | None = None,
    audit: Audit | Path | str | None = None,
) -> QuestionSet:
    """Read your own questions about your own databases.

    The databases are opened read-only. No data is copied.

    Parameters
    ----------
    questions
        A file with one JSON object per line, or a list of objects. ``dqa data formats
        own_question`` prints their fields.
    databases
        The databases: a URL or a file, several URLs or files, or a mapping. The field ``database``
        of a question contains a key of the mapping.
    name
        The name of the set, if `questions` is a list. A set that is read from a file has the name
        of the file.
    scenario
        The name or folder of the scenario for questions that name no scenario. These questions need
        only a target.
    limit
        The maximum number of questions.
    policy, audit
        The policy defines the data that may be read. The audit records the statements that list
        candidates.

    Raises
    ------
    ParseError
        A line of the file is wrong.
    UsageError
        A question of the list is wrong, or a database does not exist.
    InfrastructureError
        A database failed.
    """
    from dqa.loaders.custom import read_custom

    whose = None if scenario is None else str(scenario)
    policy, audit, locations = policy_of(policy), audit_of(audit), located(databases)
    if isinstance(questions, str | Path):
        source = OwnQuestions(
            file=Path(questions), databases=locations, scenario=whose, limit=limit
        )
        return source.read(policy, audit)
    read = read_custom(questions, locations, name=name, scenario=whose, policy=policy, audit=audit)
    return read.select(limit=limit)


class ShownSituation(Record):
    """The situation of a question."""

    name: str
    hash: str | None = Field(
        pattern="^[0-9a-f]{64}$",
        description="hash of the content; None for a user's own database, which is not loaded",
    )
    rows: dict[str, int] = Field(
        description="number of rows by table; empty if they were not counted"
    )


class ShownQuestion(Record):
    """A question as a decider sees it, and its right answer.

    Attributes
    ----------
    target
        The values of the scenario's parameters in this question.
    candidates
        The candidates, in the order of the database; empty if the question does not list them.
    answer
        The official answer; None if unknown.
    outcomes
        The outcome of each candidate, or in some generated worlds the true expected utility of each
        candidate. None if unknown.
    tables
        For each kind of database, the lines of the schema that a model reads.
    """

    key: str
    scenario: str
    id: str
    question: str
    rules: str
    target: dict[str, str]
    candidates: tuple[Candidate, ...]
    answer: Candidate | None
    answers: tuple[Candidate, ...]
    outcomes: tuple[float, ...] | None
    situation: ShownSituation
    tables: dict[Kind, tuple[str, ...]] = Field(serialization_alias="schema")

    def to_text(self) -> str:
        """Return the sections of the question as text."""
        rows = ", ".join(f"{name} {count}" for name, count in self.situation.rows.items())
        where = f"{rows} rows" if rows else "where it is"
        parts = {
            "Question": self.question.strip(),
            "Rules": self.rules.strip(),
            f"Database {self.situation.name} ({where})": "\n".join(
                line for lines in self.tables.values() for line in lines
            ),
            "Candidates": str(len(self.candidates)) if self.candidates else "not listed",
            "Answer": ", ".join(map(str, self.answers)) or "not known",
        }
        if self.outcomes is not None:
            shown = zip(self.candidates[:_SHOWN], self.outcomes, strict=False)
            lines = [f"{candidate}: {value:g}" for candidate, value in shown]
            more = len(self.candidates) - _SHOWN
            parts["Outcomes"] = "\n".join([*lines, *([f"and {more:,} more"] if more > 0 else [])])
        sections = [f"{title}\n{indent(body, '  ')}" for title, body in parts.items()]
        return "\n\n".join([self.key, *sections])


def show(questions: QuestionSet, key: str) -> ShownQuestion:
    """Return a question with its rules, its answer and the schema of its database.

    Raises
    ------
    UnknownNameError
        The set has no question with this key.
    """
    question = questions.find(key)
    truth = questions.truth_of(question)
    if questions.has_data_of(question):
        data = questions.situation_of(question)
        rows = {name: len(table) for name, table in data.tables.items()}
        situation = ShownSituation(name=data.name, hash=data.content_hash, rows=rows)
        schema = describe(data.schema)
    else:
        location = question.situation
        with closing(
            open_database(whole_url(questions.locations[location], location))
        ) as opened_database:
            schema = opened_database.schema()
        situation = ShownSituation(name=location, hash=None, rows={})
    return ShownQuestion(
        key=question.key,
        scenario=question.scenario,
        id=question.id,
        question=question.text,
        rules=question.rules,
        target=dict(question.target),
        candidates=question.candidates or (),
        answer=truth.official,
        answers=truth.answers,
        outcomes=truth.outcomes,
        situation=situation,
        tables={
            "relational": tuple(replace(schema, nodes=(), edges=()).to_text().splitlines()),
            "graph": tuple(replace(schema, tables=()).to_text().splitlines()),
        },
    )
