"""Asking: one question on any database, in one's own words or a scenario's."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

from pydantic import model_validator

from dqa import plugins
from dqa.api.evaluating import Named, default_deciders, name_models
from dqa.api.looking import opened
from dqa.core.database import Database
from dqa.core.decider import Decider
from dqa.core.decision import Decision, Ending
from dqa.core.errors import (
    DqaError,
    InfrastructureError,
    RefusedStatementError,
    StoppedError,
    UsageError,
)
from dqa.core.events import EndingEvent, ReviewKind
from dqa.core.evidence import LOOKING_UP
from dqa.core.files import problem_of_path, require_new_file, write_private
from dqa.core.provenance import utc_now
from dqa.core.question import Candidate, Question
from dqa.core.recorder import DecisionWatcher, watched_by
from dqa.core.records import Record
from dqa.core.review import (
    Reviewer,
    Reviewing,
    Settled,
    current_reviewing,
    reviewed_by,
    reviewing_by,
)
from dqa.core.simulator import Outcomes
from dqa.core.text import counted, shortened
from dqa.deciders.answers import choice_of
from dqa.deciders.base import DeciderFactory
from dqa.deciders.choices import Choices, choices_of, listed_choices
from dqa.deciders.reviewing import settle_decision
from dqa.deciders.simulation import Simulation
from dqa.deciders.statements import read_statement
from dqa.evaluation.connecting import Connected, GivenObjects, connect
from dqa.evaluation.crashes import ended_by
from dqa.evaluation.decision_spans import decision_span, describe_decision
from dqa.evaluation.keys import DecisionKey
from dqa.evaluation.observers import tell_observers
from dqa.evaluation.options import DEFAULT_CALLS, CallOptions
from dqa.evaluation.spec import Deciding
from dqa.evaluation.traces import Alternative, AskedRecord, Provenance, Spread, Trace
from dqa.guard import Audit, GuardedDatabase, Policy
from dqa.loaders.custom_question import TargetValue
from dqa.loaders.live_questions import ask_scenario, require_candidates
from dqa.models.attempts import attempt_by
from dqa.scenarios import scenario_name

_CUSTOM = "custom"
"""The scenario of a question without one."""
_LONGEST = 80
"""Characters of an answer in a message."""
_KEPT, _WORST = 1_000, 100
"""The most alternatives that a record has, and how many of them are the worst."""


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
        if self.question is not None and not self.question.strip():
            raise UsageError("The question (--question) is empty: say what is to be decided.")
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
    allow_no_evidence: bool = False,
    record: Path | str | bool = True,
    **deciding: Any,  # noqa: ANN401  (fields of the spec)
) -> Trace:
    """Ask one question about any database.

    Parameters
    ----------
    database
        A URL, a database's file, CSV and Parquet files, or an open database.
    question
        In the user's own words, or with rules, candidates, context, or of a scenario.
    decider
        Who decides, by name, or itself.
    calls
        How models are called.
    policy, audit
        What of the database may be read, and who watches its statements, for a location.
    tables
        The only tables (of a graph, labels and relationship types) that are shown and may be read,
        for a location; () for all.
    watcher
        Receives the events of the decision as they happen.
    reviewer, review
        Who is asked to approve, correct or refuse, and what: ``plan``, ``statement`` (of a model,
        allowed by the guard, before it runs), ``decision``. The callable takes a `Review`, waits
        for a person and returns a `ReviewAnswer`.
    debug
        Whether a bug raises its own error; otherwise it ends the decision as `Ending.CRASHED`.
    allow_no_evidence
        Whether an answer counts although no statement succeeded, of an agent that queries, or
        without candidates. Otherwise it ends as `Ending.NO_EVIDENCE`, without a choice.
    record
        Where the record is stored: a new file; True for a new file in `records_folder`; False for
        nowhere.
    **deciding
        The fields of a `Deciding`: model, planner, protocol, settings, rule_set, seed, ... A model
        may be LangChain's chat model itself; its `name` is what traces call it.

    Returns
    -------
    Trace
        The decision with its events, warnings, candidates and their outcomes (`asked`), cost if
        `calls` has prices, and time, user, id, version and reason (`provenance`).

    Raises
    ------
    UsageError
        An argument is wrong, or the database shows no table.
    ModelUnavailableError
        No connection to the model can be made; nothing was asked.
    QueryError, DataError, InfrastructureError
        The question cannot be made of the database's contents.
    """
    asked = AskedQuestion(question=question) if isinstance(question, str) else question
    if asked.scenario is not None:
        scenario_name(asked.scenario)  # a folder may bring deciders of its own
    reviewing = reviewing_by(reviewer, review)
    asking, name, connected = connect_decider(decider, calls, deciding)
    (made,) = connected.deciders(asking.rule_set)
    model = connected.models[name]
    decision_id, time = uuid4().hex, utc_now()
    with opened(database, policy=policy, audit=audit, tables=tables) as there:
        if not allow_no_evidence and not there.schema().parts:
            raise UsageError(
                f"'{there.name}' shows no table, so nothing could support a decision: name another "
                "database, or a policy and tables (--tables) that show one."
            )
        about = asked.read(there)
        described = _described(there, about)
        connected.check_reachable()
        key = DecisionKey(about.key, there.name, name)
        with decision_span(key, about, decision=decision_id, model=model) as span:
            try:
                with (
                    attempt_by(about.key, name),
                    watched_by(watcher or DecisionWatcher()),
                    reviewing_of(reviewing, about),
                ):
                    decision = made[name].decide(about, described)
                    if not allow_no_evidence:
                        decision = _require_evidence(decision, about, connected.makers[name])
                    decision = review_decision(decision, about, described)
            except StoppedError as error:
                decision = stopped_by(error, reviewing)
            except Exception as error:
                if debug:
                    raise
                decision = ended_by(error)
            describe_decision(span, decision)
        alternatives = record_alternatives(about, described, decision.choice, asking.rule_set)
    spent = replace(decision, usage=decision.usage + decision.lost)
    trace = Trace.of(key, there.kind, model, spent).changed(
        asked=alternatives,
        cost=None if calls.prices is None else calls.prices.known_cost(spent.usage),
        provenance=Provenance.of(decision, decision_id, time),
    )
    if record is not False:
        trace = _stored(trace, None if record is True else Path(record))
    return tell_observers(trace)


def connect_decider(
    decider: Named | None, calls: CallOptions, deciding: Mapping[str, Any]
) -> tuple[Deciding, str, Connected]:
    """Return the settings, the decider's name, and the decider with its models connected."""
    named = default_deciders("ask")[0] if decider is None else decider
    name = named if isinstance(named, str) else named.name
    fields, chats = name_models(deciding)
    asking = Deciding(**fields)
    given = GivenObjects({} if isinstance(named, str) else {name: named}, chats)
    return asking, name, connect(asking, (name,), calls, given=given)


def _require_evidence(
    decision: Decision, question: Question, maker: Decider | DeciderFactory
) -> Decision:
    """Return a decision without a choice if nothing supports it.

    An agent that queries needs a successful statement or simulation; any other decider needs that,
    or candidates that it chose from.
    """
    queries = isinstance(maker, DeciderFactory) and maker.needs_model and "tools" in maker.protocols
    lists = question.candidates is not None or question.candidate_query is not None
    if (
        decision.ending is not Ending.ANSWERED
        or any(one.error is None and one.tool not in LOOKING_UP for one in decision.evidence)
        or (lists and not queries)
    ):
        return decision
    tried = len(decision.evidence)
    problem = (
        f"Nothing supports the answer '{shortened(decision.answer, _LONGEST)}': "
        + (
            f"none of {counted(tried, 'statement')} succeeded."
            if tried
            else "no statement was run."
        )
        + " Allow it with --allow-no-evidence (allow_no_evidence=True)."
    )
    event = EndingEvent.of(Ending.NO_EVIDENCE, decision.steps, problem)
    return replace(
        decision,
        ending=Ending.NO_EVIDENCE,
        choice=None,
        error=problem,
        trace=(*decision.trace, event),
    )


def records_folder() -> Path:
    """Return the folder of decision records.

    ``DQA_DECISIONS``, or else ``dqa/decisions`` in the user's data folder (``XDG_DATA_HOME``, by
    default ``~/.local/share``).
    """
    own = os.environ.get("DQA_DECISIONS")
    data = os.environ.get("XDG_DATA_HOME")
    return Path(own) if own else Path(data or Path.home() / ".local/share", "dqa", "decisions")


def record_file(trace: Trace) -> Path | None:
    """Return the file of a decision's record in `records_folder`; None of a run's."""
    made = trace.provenance
    if made is None:
        return None
    return records_folder() / f"{made.time[:19].replace(':', '')}-{made.decision[:12]}.json"


def _stored(trace: Trace, file: Path | None) -> Trace:
    """Store the record of a decision.

    If that fails, it is an error for a named file, and otherwise a warning of the decision.
    """
    place = file or record_file(trace)
    text = json.dumps(trace.to_json(), indent=2, ensure_ascii=False) + "\n"
    try:
        if place is not None:
            if file is None:
                place.parent.mkdir(parents=True, exist_ok=True)
            write_private(place, text)
    except OSError as error:
        problem = f"The record is not stored: {problem_of_path(place or '', error, writing=True)}."
        if file is not None:
            raise InfrastructureError(f"{problem} The answer was: {trace.answer}") from error
        return trace.changed(warnings=(*trace.warnings, problem))
    return trace


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


@contextmanager
def reviewing_of(reviewing: Reviewing | None, question: Question) -> Iterator[None]:
    """Let a question be decided under somebody's eyes; under nobody's for None."""
    if reviewing is not None:
        reviewing.question = question.text
    with reviewed_by(reviewing):
        yield


def stopped_by(error: StoppedError, reviewing: Reviewing | None) -> Decision:
    """Return the decision that a person ended, with what happened until then."""
    recorder = None if reviewing is None else reviewing.recorder
    return ended_by(error) if recorder is None else recorder.failed(error)


def review_decision(decision: Decision, question: Question, database: Database) -> Decision:
    """Return a decision as a person lets it stand.

    A decider that goes on after a refusal has asked before; the decision of any other one is none
    where it is refused.

    Raises
    ------
    UsageError, InfrastructureError
        The candidates cannot be listed.
    """
    reviewing = current_reviewing()
    if reviewing is None or decision.ending is not Ending.ANSWERED or reviewing.has_decided:
        return decision
    before = len(reviewing.events)

    def choose(answer: str) -> Candidate | None:
        if question.answer_form == "statement":
            return read_statement(answer, database)
        return choice_of(answer, question, choices_of(question, database))

    try:
        settled, choice = settle_decision(decision.answer, decision.choice, choose)
        problem = _refused(settled)
    except StoppedError as error:
        settled, choice, problem = Settled(None), None, str(error)
    trace = (*decision.trace, *reviewing.events[before:])
    if settled.text is not None:
        return replace(decision, answer=settled.text, choice=choice, trace=trace)
    ended = EndingEvent.of(Ending.STOPPED, decision.steps, problem)
    return replace(
        decision,
        ending=Ending.STOPPED,
        answer="",
        choice=None,
        error=problem,
        trace=(*trace, ended),
    )


def _refused(settled: Settled) -> str:
    who = f" ({settled.by})" if settled.by else ""
    why = f": {settled.reason}" if settled.reason else ""
    return f"A person{who} refused the decision{why}. Its decider cannot go on from there."


def record_alternatives(
    question: Question, database: Database, choice: Candidate | None, rule_set: str | None = None
) -> AskedRecord:
    """Return what was asked and what could be chosen, with outcomes where the scenario tells them.

    They are asked of the live database in place, or worked out by the scenario's simulator on what
    it holds. What keeps them from being known is said in the record: the decision stands.
    """
    asked = AskedRecord(
        text=question.text,
        rules=question.rules,
        scenario=question.scenario,
        target=dict(question.target),
    )
    try:
        choices = choices_of(question, database)
        if choices is None:
            return asked
        if question.scenario not in plugins.names("simulator"):
            first = [Alternative(candidate=one) for one in choices.first[:_KEPT]]
            if choice is not None and choice not in choices.first[:_KEPT]:
                first += [Alternative(candidate=one) for one in choices.among({str(choice)})]
            return asked.changed(total=choices.total, alternatives=tuple(first))
        simulation = Simulation.of(_held(question, choices), database, rule_set)
        outcomes = simulation.outcomes()
    except DqaError as error:
        return asked.changed(problem=str(error))
    except Exception as error:  # noqa: BLE001  (a simulator of anybody's)
        return asked.changed(problem=f"{type(error).__name__}: {error}")
    return asked.changed(
        total=len(outcomes.candidates),
        alternatives=tuple(_kept(outcomes, choice)),
        spread=_spread(outcomes) if len(outcomes.candidates) > _KEPT else None,
        unit=simulation.unit,
        goal=outcomes.goal,
        baseline=outcomes.baseline,
        statement=simulation.statement,
    )


def _held(question: Question, choices: Choices) -> Question:
    """Return a question with all of its candidates, as each of them has an outcome."""
    return replace(question, candidates=choices.all())


def _kept(outcomes: Outcomes, choice: Candidate | None) -> Iterator[Alternative]:
    """Yield the alternatives that a record holds, the best first."""
    ranked = outcomes.best_first()
    if len(ranked) > _KEPT:
        best, worst = ranked[: _KEPT - _WORST], ranked[-_WORST:]
        shown = {*best, *worst}
        chosen = [choice] if choice in outcomes and choice not in shown else []
        ranked = [*best, *chosen, *worst]  # type: ignore[list-item]
    for candidate in ranked:
        value, rank = outcomes.value(candidate), outcomes.rank(candidate)
        yield Alternative(candidate=candidate, outcome=value, rank=rank)


def _spread(outcomes: Outcomes) -> Spread:
    import numpy as np

    values = outcomes.values
    worst = values.min() if outcomes.goal == "maximise" else values.max()
    low, middle, high = (float(one) for one in np.quantile(values, (0.25, 0.5, 0.75)))
    moved = outcomes.baseline is not None
    return Spread(
        best=outcomes.best,
        worst=float(worst),
        mean=float(values.mean()),
        quartiles=(low, middle, high),
        ties=len(outcomes.ties),
        unmoved=len(outcomes.unmoved(outcomes.candidates)) if moved else None,
    )
