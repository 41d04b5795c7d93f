"""Read, generate and show questions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from dqa.api.databases import audit_of, open_database, policy_of
from dqa.core.question_set import QuestionSet
from dqa.core.schema import describe
from dqa.guard import Audit, Policy
from dqa.loaders.custom_question import OwnQuestion
from dqa.loaders.locations import located, whole_url
from dqa.loaders.sources import FormName, NamedSet, OwnQuestions, QuestionFolder


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


def show(questions: QuestionSet, key: str) -> dict[str, str]:
    """Return the texts of a question, by the names of its parts.

    Raises
    ------
    UnknownNameError
        The set has no question with this key.
    """
    question = questions.find(key)
    location = question.situation
    if questions.has_data_of(question):
        schema = describe(questions.situation_of(question).schema)
    else:
        with closing(open_database(whole_url(questions.locations[location], location))) as database:
            schema = database.schema()
    answers = questions.truth_of(question).answers
    return {
        "question": question.text.strip(),
        "target": "\n".join(map(": ".join, question.target.items())) or "none",
        "rules": question.rules.strip(),
        "schema": schema.to_text().strip(),
        "answer": ", ".join(map(str, answers)) or "not known",
    }
