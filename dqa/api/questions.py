"""Questions: reading, generating and showing them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from textwrap import indent
from typing import Any

from pydantic import Field

from dqa.api.databases import audit_of, open_database, policy_of
from dqa.core.question import Candidate
from dqa.core.question_set import QuestionSet
from dqa.core.records import Record
from dqa.core.schema import describe
from dqa.guard import Audit, Policy
from dqa.loaders.custom_question import OwnQuestion
from dqa.loaders.locations import located, whole_url
from dqa.loaders.sources import FormName, GeneratedFolder, NamedSet, OwnQuestions, release_in

_SHOWN = 1_000
"""The most outcomes that a text names."""


def read_release(
    folder: Path | str,
    *,
    scenarios: tuple[str, ...] | None = None,
    limit: int | None = None,
    form: FormName = "relational",
    strict: bool = False,
) -> QuestionSet:
    """Read the folder that a benchmark's authors published, whichever of those that are known.

    Parameters
    ----------
    folder
        Where it is.
    scenarios, limit
        Which questions to keep, and most of each scenario.
    form
        Which of its files to read databases from.
    strict
        Whether a defect is an error instead of being mended and listed in `QuestionSet.defects`.

    Raises
    ------
    DataError
        It cannot be read.
    UsageError
        No question is left.
    """
    source = release_in(Path(folder), scenarios=scenarios, limit=limit, form=form, strict=strict)
    return source.read()


def read_generated(
    folder: Path | str, *, scenarios: tuple[str, ...] | None = None, limit: int | None = None
) -> QuestionSet:
    """Read a folder that ``dqa data generate`` wrote; `DataError` where it was changed since."""
    return GeneratedFolder(folder=Path(folder), scenarios=scenarios, limit=limit).read()


def read_set(
    name: str, *, scenarios: tuple[str, ...] | None = None, limit: int | None = None
) -> QuestionSet:
    """Draw a named set of questions again; every world and question is held against its hash.

    Raises
    ------
    UnknownNameError
        No installed package has a set of that name; lists those there are.
    DataError
        Something came out as another one than the set's.
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

    The databases are asked where they are, read-only; nothing is loaded.

    Parameters
    ----------
    questions
        A file of one JSON object a line, or a list of the same (``dqa data formats own_question``).
    databases
        A URL or a file, several of them, or by the names that questions use as ``database``.
    name
        The name of a list; a file's questions have the name of the file.
    scenario
        Default scenario for lines without one, by name or folder: they need only their target.
    limit
        Most questions.
    policy, audit
        The readable data, and the audit of the statements that list candidates.

    Raises
    ------
    ParseError
        A line of the file is wrong.
    UsageError
        A question of the list is wrong, or a database is not there.
    InfrastructureError
        A database failed.
    """
    from dqa.loaders.custom import read_custom

    whose = None if scenario is None else str(scenario)
    policy, audit, places = policy_of(policy), audit_of(audit), located(databases)
    if isinstance(questions, str | Path):
        source = OwnQuestions(file=Path(questions), databases=places, scenario=whose, limit=limit)
        return source.read(policy, audit)
    read = read_custom(questions, places, name=name, scenario=whose, policy=policy, audit=audit)
    return read.select(limit=limit)


class ShownSituation(Record):
    """The situation that a question is about."""

    name: str
    hash: str | None = Field(
        pattern="^[0-9a-f]{64}$",
        description="of its content; None of a database that is asked where it is",
    )
    rows: dict[str, int] = Field(description="by table; empty if they were not counted")


class ShownSchema(Record):
    """A database's schema as a model reads it, line by line."""

    relational: tuple[str, ...]
    graph: tuple[str, ...]


class ShownQuestion(Record):
    """One question as a decider meets it, with the right answer.

    Attributes
    ----------
    target
        The values of the scenario's parameters.
    candidates
        In table order; empty if they are not listed.
    answer
        The official answer; None if unknown.
    outcomes
        The outcome of each candidate, or its true expected utility in a generated world; None if
        unknown.
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
    tables: ShownSchema = Field(serialization_alias="schema")

    def to_text(self) -> str:
        """Return the question as text, section by section."""
        rows = ", ".join(f"{name} {count}" for name, count in self.situation.rows.items())
        where = f"{rows} rows" if rows else "where it is"
        parts = {
            "Question": self.question.strip(),
            "Rules": self.rules.strip(),
            f"Database {self.situation.name} ({where})": "\n".join(
                [*self.tables.relational, *self.tables.graph]
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
    """Return one question with its rules, its database's schema and its answer.

    Raises
    ------
    UnknownNameError
        The set has no such question.
    """
    question = questions.find(key)
    truth = questions.truth_of(question)
    if questions.has_data_of(question):
        data = questions.situation_of(question)
        rows = {name: len(table) for name, table in data.tables.items()}
        situation = ShownSituation(name=data.name, hash=data.content_hash, rows=rows)
        schema = describe(data.schema)
    else:
        place = question.situation
        with closing(open_database(whole_url(questions.places[place], place))) as there:
            schema = there.schema()
        situation = ShownSituation(name=place, hash=None, rows={})
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
        tables=ShownSchema(
            relational=tuple(replace(schema, nodes=(), edges=()).to_text().splitlines()),
            graph=tuple(replace(schema, tables=()).to_text().splitlines()),
        ),
    )
