"""The question of ``dqa ask``: in a user's own words, or a scenario's about a loaded database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dqa.cli.options import pairs_in
from dqa.core.errors import UsageError

if TYPE_CHECKING:
    from dqa.core.database import Database
    from dqa.core.question import Candidate, Question

__all__ = ["AskedQuestion"]

_CUSTOM = "custom"
"""The scenario of a question that is in none."""


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """What is asked, as options; `UsageError` where they make no question."""

    question: Annotated[
        str | None,
        typer.Option(
            "--question", metavar="TEXT", help="What is to be decided, where no scenario says it."
        ),
    ] = None
    scenario: Annotated[
        str | None,
        typer.Option(
            "--scenario",
            metavar="NAME|DIR",
            help="Scenario that the database holds, by name or folder: its question is asked, by "
            "its rules, and its simulator can be.",
        ),
    ] = None
    target: Annotated[
        list[str] | None,
        typer.Option(
            "--target",
            metavar="KEY=VALUE",
            help="What the scenario's question is about, e.g. goods=Iron; may be given several "
            "times.",
        ),
    ] = None
    rules: Annotated[
        Path | None,
        typer.Option("--rules", metavar="FILE", help="Text file with the business rules."),
    ] = None
    candidates: Annotated[
        str | None,
        typer.Option(
            "--candidates",
            metavar="STATEMENT",
            help="SQL or Cypher whose first column lists what can be chosen.",
        ),
    ] = None
    context: Annotated[
        list[str] | None,
        typer.Option(
            "--context",
            metavar="STATEMENT",
            help="SQL or Cypher whose rows a decider reads that writes none itself, such as "
            "dellma-pairs; may be given several times.",
        ),
    ] = None

    def __post_init__(self) -> None:
        if self.scenario is None and self.question is None:
            raise UsageError(
                "Say what is to be decided: --question TEXT, or --scenario NAME where the database "
                "holds one."
            )
        if self.scenario is None and self.target:
            raise UsageError(f"--target {self.target[0]} belongs to a scenario: name --scenario.")
        if self.scenario is not None and (self.question is not None or self.rules is not None):
            # The simulator would go on answering the scenario's question.
            raise UsageError(
                f"The scenario '{self.scenario}' has a question and rules of its own: leave "
                "--question and --rules away, or --scenario for a question of yours."
            )

    def rules_text(self) -> str:
        """Return the rules that were given; `UsageError` where they cannot be read."""
        try:
            return "" if self.rules is None else self.rules.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(
                f"--rules {self.rules} cannot be read as UTF-8 text: {error}."
            ) from error

    def read(self, database: Database, rules: str) -> Question:
        """Make the question of what `database` holds, by the rules that were given.

        Raises
        ------
        UsageError
            No candidate is listed, the target is not what the scenario asks about, or the database
            does not hold the scenario.
        DataError
            It holds the scenario, but not in its types.
        QueryError, InfrastructureError
            As `Database.query` does.
        """
        from dqa.core.question import Question

        candidates = None if self.candidates is None else _listed(self.candidates, database)
        if self.scenario is None:
            asked = Question(_CUSTOM, "1", self.question or "", rules)
        else:
            asked = _of_scenario(self.scenario, pairs_in("--target", self.target or ()), database)
        return replace(
            asked,
            candidates=asked.candidates if candidates is None else candidates,
            candidate_query=self.candidates,
            context_queries=tuple(self.context or ()),
        )


def _of_scenario(name: str, target: Mapping[str, str], database: Database) -> Question:
    """Make a scenario's question about what a database holds."""
    from dqa import plugins
    from dqa.loaders.asked import ask_scenario
    from dqa.scenarios import known_as

    return ask_scenario(plugins.scenario(known_as(name)), database, target)


def _listed(statement: str, database: Database) -> tuple[Candidate, ...]:
    from dqa.deciders.candidates import queried_candidates

    listed = queried_candidates(statement, database, "--candidates")
    if not listed:
        raise UsageError("--candidates lists no candidate: its first column is empty.")
    return listed
