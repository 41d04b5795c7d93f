"""Define the question that a user, a command or an agent asks about a database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Self

from pydantic import model_validator

from dqa import plugins
from dqa.core.database import Database
from dqa.core.errors import RefusedStatementError, UsageError
from dqa.core.question import Candidate, Question
from dqa.core.records import Record
from dqa.loaders.custom_question import TargetValue
from dqa.scenarios import scenario_name


class UserQuestion(Record, use_attribute_docstrings=True):
    """A question in the user's own words, or a question of a scenario about a loaded situation.

    Each field is an option of ``dqa ask`` and an argument of the tool ``ask``.

    Raises
    ------
    UsageError
        The fields do not define a question.
    """

    question: str | None = None
    """Question to decide. Not allowed with a scenario."""
    scenario: str | None = None
    """Scenario of the data in the database. It supplies the question, the rules and the
    simulator."""
    target: Mapping[str, TargetValue] = {}
    """Values of parameters of the scenario's question. The option sets one; it may be repeated."""
    rules: str | None = None
    """Business rules for the decision."""
    candidates: str | tuple[Candidate, ...] | None = None
    """Statement whose first column contains the possible decisions, or a list of them."""
    context: tuple[str, ...] = ()
    """Statements whose rows are shown to deciders that write no statements. The option adds one; it
    may be repeated."""

    @model_validator(mode="after")
    def _check_fields(self) -> Self:
        if self.question is not None and not self.question.strip():
            raise UsageError("The question (--question) is empty: write the question to decide.")
        if self.scenario is None and self.question is None:
            raise UsageError(
                "No question is given: pass one (--question). If the database contains the data of "
                "a scenario, give the scenario instead (--scenario)."
            )
        if self.scenario is None and self.target:
            raise UsageError(
                f"The target {next(iter(self.target))} is a parameter of a scenario: give the "
                "scenario (--scenario)."
            )
        if self.scenario is not None and (self.question is not None or self.rules is not None):
            # The simulator knows only the scenario's own question.
            raise UsageError(
                f"The scenario '{self.scenario}' has its own question and rules. Leave out either "
                "the scenario, or your question and rules."
            )
        if self.candidates == ():
            raise UsageError("candidates (--candidate-name) is empty: name a candidate.")
        return self

    def read(self, database: Database) -> Question:
        """Create the question from the contents of `database`.

        Raises
        ------
        UsageError
            No candidate is listed, the target does not fit the scenario, or the database contains
            no data of the scenario.
        DataError
            The data of the scenario has wrong types.
        QueryError, InfrastructureError
            A query fails; see `Database.query`.
        """
        from dqa.loaders.live_questions import ask_scenario, require_candidates

        if self.scenario is None:
            question = Question("custom", "1", self.question or "", self.rules or "")
        else:
            scenario = plugins.scenario(scenario_name(self.scenario))
            question = ask_scenario(scenario, database, self.target)
        question = replace(question, context_queries=self.context)
        if self.candidates is None:
            require_candidates(question)
            return question
        if isinstance(self.candidates, str):
            listed = _listed(self.candidates, database)
            return replace(question, candidates=listed, candidate_query=self.candidates)
        return replace(
            question, candidates=tuple(dict.fromkeys(self.candidates)), candidate_query=None
        )


def _listed(statement: str, database: Database) -> tuple[Candidate, ...]:
    from dqa.deciders.candidates import listed_candidates

    try:
        listed = listed_candidates(statement, database, "candidates (--candidates)")
    except UsageError as error:
        if not isinstance(getattr(error.__cause__, "__cause__", None), RefusedStatementError):
            raise  # the text is a statement, but it failed
        raise UsageError(
            f"{error} To list the candidates by name, repeat --candidate-name."
        ) from error
    if not listed:
        raise UsageError(
            "The statement of candidates (--candidates) returned no row: no candidate is known."
        )
    return listed
