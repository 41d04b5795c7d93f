"""What a scenario is, and how its folder under ``schemas/`` becomes one.

A scenario's folder holds ``scenario.toml`` (tables, graph mapping, and settings of deciders that
differ here), ``rules.md`` (business rules), ``question.txt`` (a `string.Template` over the
question's target and, below an empty line, how it is to be answered) and, where deciders are to be
told what to read, ``context.sql`` and ``context.cypher`` (`dqa.scenarios.statements`).
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from string import Template
from typing import Any, Literal, TypeAlias

from numpy.typing import NDArray

from dqa.core.errors import DataError
from dqa.core.question import Candidate, Question
from dqa.core.situation import Column, EdgeSchema, NodeSchema, Schema, Situation, TableSchema
from dqa.core.truth import LabelledQuestion, Truth
from dqa.scenarios.statements import Kind, read_statements, statements_for

__all__ = [
    "LIST_SEPARATOR",
    "Scenario",
    "listed_in",
    "read_scenario",
    "read_schema",
    "scenario_folder",
]

LIST_SEPARATOR = ", "
"""Between the names of a target that lists several, as a reader of the question sees them."""


Targets: TypeAlias = Callable[[Situation, Mapping[str, str]], Mapping[str, tuple[str, ...]]]


def _anything(situation: Situation, target: Mapping[str, str]) -> Mapping[str, tuple[str, ...]]:
    del situation, target
    return {}


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
        What is asked, over the keys of a question's target.
    goal
        Whether more or less of the outcome is better.
    unit
        What the outcome is, e.g. "profit".
    candidate_noun
        What is chosen, e.g. "trade node".
    candidates
        Lists a situation's candidates for a target, in table order.
    contexts
        By kind of database, statements whose rows tell what bears on a question: templates over
        its target and ``$candidates``, filled with literals.
    answer_form
        How the answer is to be given, which ends a question's text; empty where nothing says it.
    targets
        Lists what a situation can be asked about: by key of the target the values it can have,
        given the others. Keys that may have any are not there.
    settings
        Of deciders, by name as ``--set`` has them: what the scenario's authors chose for it, where
        it differs from what is usual. Those that a user gives go first.
    """

    name: str
    schema: Schema
    rules: str
    template: Template
    goal: Literal["maximise", "minimise"]
    unit: str
    candidate_noun: str
    candidates: Callable[[Situation, Mapping[str, str]], tuple[Candidate, ...]]
    contexts: Mapping[Kind, tuple[Template, ...]] = field(default_factory=dict)
    answer_form: str = ""
    targets: Targets = _anything
    settings: Mapping[str, str] = field(default_factory=dict)

    def question(
        self,
        situation: Situation,
        question_id: str,
        target: Mapping[str, str],
    ) -> Question:
        """Make a question of this scenario in our own words."""
        return Question(
            scenario=self.name,
            id=question_id,
            text=f"{self.template.substitute(target)} {self.answer_form}".strip(),
            rules=self.rules,
            situation=situation.name,
            target=target,
            candidates=self.candidates(situation, target),
        )

    def recorded(
        self,
        situation: Situation,
        question_id: str,
        target: Mapping[str, str],
        outcomes: Mapping[str, float],
    ) -> LabelledQuestion:
        """Make a question whose outcomes a record tells, by candidate; the best is its answer.

        Raises
        ------
        DataError
            The record lacks a candidate.
        """
        question = self.question(situation, question_id, target)
        candidates = question.candidates or ()
        missing = [name for name in candidates if name not in outcomes]
        if missing:
            raise DataError(f"Question '{question.key}' has no outcome of '{missing[0]}'.")
        values = tuple(outcomes[str(name)] for name in candidates)
        best = (max if self.goal == "maximise" else min)(values)
        return LabelledQuestion(question, Truth((candidates[values.index(best)],), values))

    def goal_of(self, question: Question) -> str:
        """Return a question's text without how it is to be answered, where it is in our words.

        Deciders that ask for something else than the answer tell the goal only.
        """
        return question.text.removesuffix(self.answer_form).strip() or question.text

    def context(self, question: Question, kind: Kind) -> tuple[str, ...]:
        """Return statements whose rows are what bears on a question; () where none are known.

        Parameters
        ----------
        question
            One of this scenario.
        kind
            Whether the statements are SQL or Cypher. They run on every dialect of it.

        Raises
        ------
        DataError
            The question does not tell what they ask about.
        """
        return statements_for(self.contexts.get(kind, ()), question, kind)


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


def read_scenario(  # noqa: PLR0913  (one parameter a fact)
    name: str,
    *,
    goal: Literal["maximise", "minimise"],
    unit: str,
    candidate_noun: str,
    candidates: Callable[[Situation, Mapping[str, str]], tuple[Candidate, ...]],
    targets: Targets = _anything,
) -> Scenario:
    """Make a shipped scenario of its folder and what only code can say; see `Scenario`."""
    folder = scenario_folder(name)
    asked, _, answer_form = (folder / "question.txt").read_text("utf-8").partition("\n\n")
    return Scenario(
        name=name,
        schema=read_schema(name),
        rules=(folder / "rules.md").read_text("utf-8").strip(),
        template=Template(asked.strip()),
        goal=goal,
        unit=unit,
        candidate_noun=candidate_noun,
        candidates=candidates,
        contexts=read_statements(folder),
        answer_form=answer_form.strip(),
        targets=targets,
        settings={
            option: str(value) for option, value in _document(name).get("settings", {}).items()
        },
    )


def listed_in(names: NDArray[Any], target: Mapping[str, str], key: str) -> tuple[Candidate, ...]:
    """Return the names that ``target[key]`` lists, in table order; all where it lists none.

    Parameters
    ----------
    names
        Shape (n,): the names there are.
    target, key
        Of a question, and which of its values is the list.

    Raises
    ------
    DataError
        The target lists a name that is not there.
    """
    there = names.tolist()
    wanted = target[key].split(LIST_SEPARATOR) if key in target else there
    unknown = [name for name in wanted if name not in there]
    if unknown:
        raise DataError(f"'{unknown[0]}' is listed to choose from, but the situation has it not.")
    return tuple(name for name in there if name in set(wanted))


@cache
def read_schema(name: str) -> Schema:
    """Read tables and graph mapping from a shipped scenario's ``scenario.toml``."""
    document = _document(name)
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


def _document(name: str) -> Mapping[str, Any]:
    return tomllib.loads((scenario_folder(name) / "scenario.toml").read_text("utf-8"))


def _table(document: Mapping[str, Any]) -> TableSchema:
    return TableSchema(
        name=document["name"],
        columns=tuple(Column(c["name"], c["type"], c["description"]) for c in document["columns"]),
        key=tuple(document["key"]),
        description=document["description"],
    )
