"""Asking: one question on any database, in one's own words or a scenario's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self, Unpack

from pydantic import model_validator

from dqa import plugins
from dqa.api.alternatives import record_alternatives
from dqa.api.evaluating import Named, default_deciders, name_models
from dqa.api.looking import opened
from dqa.api.reviewing import review_decision, reviewing_of, stopped_by
from dqa.core.database import Database
from dqa.core.errors import RefusedStatementError, StoppedError, UsageError
from dqa.core.events import ReviewKind
from dqa.core.files import require_new_file
from dqa.core.question import Candidate, Question
from dqa.core.recorder import DecisionWatcher, watched_by
from dqa.core.records import Record
from dqa.core.review import Reviewer, reviewing_by
from dqa.deciders.choices import Choices, listed_choices
from dqa.evaluation.connecting import connect
from dqa.evaluation.crashes import ended_by
from dqa.evaluation.decision_spans import decision_span, tell_decision
from dqa.evaluation.keys import DecisionKey
from dqa.evaluation.observers import tell_observers
from dqa.evaluation.options import DEFAULT_CALLS, CallOptions
from dqa.evaluation.spec import Deciding, DecidingFields
from dqa.evaluation.traces import Trace
from dqa.guard import Audit, GuardedDatabase, Policy
from dqa.loaders.asked import ask_scenario, require_candidates
from dqa.loaders.own_question import TargetValue
from dqa.models.attempts import attempt_by
from dqa.scenarios import scenario_name

_CUSTOM = "custom"
"""The scenario of a question that is in none."""


class AskedQuestion(Record):
    """What is asked: a question in the user's own words, or a scenario's about what was loaded.

    Attributes
    ----------
    question
        What is to be decided, where no scenario says it.
    scenario
        The scenario that the database holds, by name or folder: its question is asked, by its
        rules.
    target
        What the scenario's question is about.
    rules
        The business rules, as a text.
    candidates
        What can be chosen: a statement whose first column lists it, or a list, which
        `read_candidates` makes of a file.
    context
        Statements whose rows a decider reads that writes none itself.

    Raises
    ------
    UsageError
        They make no question.
    """

    question: str | None = None
    scenario: str | None = None
    target: Mapping[str, TargetValue] = {}
    rules: str | None = None
    candidates: str | tuple[Candidate, ...] | None = None
    context: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _makes_one(self) -> Self:
        if self.scenario is None and self.question is None:
            raise UsageError(
                "Say what is to be decided: give a question (--question), or a scenario "
                "(--scenario) where the database holds one."
            )
        if self.scenario is None and self.target:
            raise UsageError(
                f"The target {next(iter(self.target))} belongs to a scenario: name it (--scenario)."
            )
        if self.scenario is not None and (self.question is not None or self.rules is not None):
            # The simulator would go on answering the scenario's question.
            raise UsageError(
                f"The scenario '{self.scenario}' has a question and rules of its own: leave "
                "away question and rules, or the scenario for a question of yours."
            )
        if self.candidates == ():
            raise UsageError("candidates (--candidate) lists none: name what can be chosen.")
        return self

    def read(self, database: Database) -> Question:
        """Make the question of what `database` holds.

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
        given, statement = self.candidates, None
        if isinstance(given, str):
            listed = _listed(given, database)
            # Of very many none is held, but where each of them has an outcome.
            statement, given = given, listed.held if self.scenario is None else listed.all()
        if self.scenario is None:
            asked = Question(_CUSTOM, "1", self.question or "", self.rules or "")
        else:
            scenario = plugins.scenario(scenario_name(self.scenario))
            asked = ask_scenario(scenario, database, self.target)
        if self.candidates is None:
            require_candidates(asked)
        return replace(
            asked,
            candidates=_once(given) if self.candidates is not None else asked.candidates,
            candidate_query=statement if self.candidates is not None else asked.candidate_query,
            context_queries=self.context,
        )


def ask(  # noqa: PLR0913  (each is a question of its own to the caller)
    database: str | Path | Database,
    question: str | AskedQuestion,
    *,
    decider: Named | None = None,
    calls: CallOptions = DEFAULT_CALLS,
    policy: Policy | Path | str | None = None,
    audit: Audit | Path | str | None = None,
    tables: Sequence[str] = (),
    watcher: DecisionWatcher | None = None,
    reviewer: Reviewer | None = None,
    review: Sequence[ReviewKind] = (),
    debug: bool = False,
    **deciding: Unpack[DecidingFields],
) -> Trace:
    """Ask one question about any database.

    Parameters
    ----------
    database
        A URL, a database's file, CSV and Parquet files, or a database that is open already.
    question
        In the user's own words, or with rules, candidates, context, or of a scenario.
    decider
        Who decides, by name, or itself.
    calls
        How models are called.
    policy, audit
        What of the database may be read, and who watches its statements; for one that is opened
        here.
    tables
        The only tables (of a graph, labels and relationship types) that are shown and may be read;
        () for all; for one that is opened here.
    watcher
        Is told what happens while it happens.
    reviewer, review
        Who is asked to approve, correct or refuse, and what: ``plan``, ``statement`` (of those that
        a model writes and the guard allows, before they run), ``decision``. The callable takes a
        `Review`, waits for a person and returns a `ReviewAnswer`.
    debug
        Whether a bug raises what it raised; otherwise it ends the decision as `Ending.CRASHED`.
    **deciding
        The fields of a `Deciding`: model, planner, protocol, settings, rule_set, seed, ... A model
        may be LangChain's chat model itself; its `name` is what traces call it.

    Returns
    -------
    Trace
        The decision, with everything that led to it, what it did not take into account
        (`warnings`), what could be chosen and what that leads to where the scenario tells it
        (`asked`), and what it cost where `calls` has prices.

    Raises
    ------
    UsageError
        Something cannot be as it is asked for.
    ModelUnavailableError
        No connection to the model can be made; nothing was asked.
    QueryError, DataError, InfrastructureError
        The question cannot be made of what the database holds.
    """
    asked = AskedQuestion(question=question) if isinstance(question, str) else question
    if asked.scenario is not None:
        scenario_name(asked.scenario)  # a folder may bring deciders of its own
    named = default_deciders("ask")[0] if decider is None else decider
    reviewing = reviewing_by(reviewer, review)
    name = named if isinstance(named, str) else named.name
    given = {} if isinstance(named, str) else {name: named}
    fields, chats = name_models(deciding)
    asking = Deciding(**fields)
    connected = connect(asking, (name,), calls, given=given, chats=chats)
    made = connected.deciders(asking.rule_set)
    with opened(database, policy=policy, audit=audit, tables=tables) as there:
        about = asked.read(there)
        described = _described(there, about)
        connected.check_reachable()
        key = DecisionKey(about.key, there.name, name)
        with decision_span(key, about) as span:
            try:
                with (
                    attempt_by(about.key, name),
                    watched_by(watcher or DecisionWatcher()),
                    reviewing_of(reviewing, about),
                ):
                    decision = made.by_name[name].decide(about, described)
                    decision = review_decision(decision, about, described)
            except StoppedError as error:
                decision = stopped_by(error, reviewing)
            except Exception as error:
                if debug:
                    raise
                decision = ended_by(error)
            tell_decision(span, decision)
        record = record_alternatives(about, described, decision.choice, asking.rule_set)
    prices = calls.prices
    spent = replace(decision, usage=decision.usage + decision.lost)
    trace = Trace.of(key, there.kind, made.models[name], spent).changed(asked=record)
    if prices is not None:
        trace = trace.changed(cost=prices.cost(spent.usage))
    return tell_observers(trace)


def write_decision_page(trace: Trace, file: Path | str) -> None:
    """Write the record of a decision as one self-contained page.

    It has the question, the decision, the alternatives with their outcomes, the plan, every
    statement with the rows that were seen, who decided, and what that cost.

    Raises
    ------
    UsageError
        The file is there already, or cannot be written.
    """
    from dqa.report.decision_page import render_decision
    from dqa.report.pages import write_page

    require_new_file(Path(file))
    write_page(render_decision(trace), Path(file))


def _once(given: Sequence[Candidate] | None) -> tuple[Candidate, ...] | None:
    return None if given is None else tuple(dict.fromkeys(given))


def _listed(statement: str, database: Database) -> Choices:
    try:
        listed = listed_choices(statement, database, "candidates (--candidates)")
    except UsageError as error:
        if not isinstance(getattr(error.__cause__, "__cause__", None), RefusedStatementError):
            raise  # it is a statement, and something else is wrong with it
        raise UsageError(
            f"{error} Names themselves are given one by one (--candidate NAME) or as a file "
            "(--candidates-from FILE)."
        ) from error
    if not listed.total:
        raise UsageError("candidates (--candidates) lists no candidate: its first column is empty.")
    return listed


def _described(database: Database, question: Question) -> Database:
    """Return a database as it reads with what the question's scenario says of its tables."""
    scenario = plugins.scenario_of(question)
    if scenario is None or not isinstance(database, GuardedDatabase):
        return database
    return database.described(scenario.schema)
