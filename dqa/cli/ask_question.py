"""The question of ``dqa ask``: in a user's own words, or a scenario's about a loaded database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dqa.cli.options import pairs_in
from dqa.errors import QueryError, UnknownNameError, UsageError

if TYPE_CHECKING:
    from dqa.databases.base import Database
    from dqa.question import Candidate, Question
    from dqa.scenarios.base import Scenario

__all__ = ["AskedQuestion", "read_rules"]

_CUSTOM = "custom"
"""The scenario of a question that is in none."""


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """What was given on the command line; `UsageError` where it makes no question.

    Attributes
    ----------
    text
        What is to be decided; None for the scenario's own question.
    rules
        The business rules; None for the scenario's, or for none.
    candidates
        Statement that lists what can be chosen; None for the scenario's, or for no list.
    context
        Statements whose rows a decider reads.
    scenario
        What the database holds; None for anything.
    target
        ``KEY=VALUE``: what the scenario's question is about.
    """

    text: str | None
    rules: str | None
    candidates: str | None
    context: tuple[str, ...]
    scenario: str | None
    target: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.scenario is None and self.text is None:
            raise UsageError(
                "Say what is to be decided: --question TEXT, or --scenario NAME where the database "
                "holds one."
            )
        if self.scenario is None and self.target:
            raise UsageError(f"--target {self.target[0]} belongs to a scenario: name --scenario.")

    def read(self, database: Database) -> Question:
        """Make the question of what `database` holds.

        Raises
        ------
        UsageError
            No candidate is listed, the target is not what the scenario asks about, or the database
            does not hold the scenario.
        DataError
            It holds the scenario, but not in its types, or without what the target names.
        QueryError, InfrastructureError
            As `Database.query` does.
        """
        from dqa.question import Question

        candidates = None if self.candidates is None else _listed(self.candidates, database)
        if self.scenario is None:
            asked = Question(scenario=_CUSTOM, id="1", text=self.text or "", rules="")
        else:
            asked = _of_scenario(self.scenario, pairs_in("--target", self.target), database)
        return replace(
            asked,
            text=asked.text if self.text is None else self.text,
            rules=asked.rules if self.rules is None else self.rules,
            candidates=asked.candidates if candidates is None else candidates,
            candidate_query=self.candidates,
            context_queries=self.context,
        )


def _of_scenario(name: str, target: Mapping[str, str], database: Database) -> Question:
    """Make a scenario's question about what a database holds."""
    from dqa import plugins
    from dqa.loaders.readback import read_situation

    scenario = plugins.scenario(name)
    _check_target(scenario, target)
    try:
        situation = read_situation(database, scenario.schema, database.name)
    except QueryError as error:
        raise UsageError(
            f"{database.name} does not hold the scenario '{name}' as 'dqa load' writes it: {error}"
        ) from error
    return scenario.question(situation, "1", target)


def _check_target(scenario: Scenario, target: Mapping[str, str]) -> None:
    wanted = scenario.template.get_identifiers()
    for key in target:
        if key not in wanted:
            raise UnknownNameError(f"target of the scenario '{scenario.name}'", key, wanted)
    missing = [key for key in wanted if not target.get(key)]
    if missing:
        told = " ".join(f"--target {key}=..." for key in missing)
        raise UsageError(
            f"The question of the scenario '{scenario.name}' is about more than was told: give "
            f"{told}."
        )


def read_rules(path: Path) -> str:
    """Return the text of the business rules; `UsageError` where it cannot be read."""
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--rules {path} cannot be read as UTF-8 text: {error}.") from error


def _listed(statement: str, database: Database) -> tuple[Candidate, ...]:
    from dqa.deciders.candidates import queried_candidates

    listed = queried_candidates(statement, database, "--candidates")
    if not listed:
        raise UsageError("--candidates lists no candidate: its first column is empty.")
    return listed
