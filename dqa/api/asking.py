"""Ask one question about any database, and store the record of the decision."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

from dqa import plugins
from dqa.api.databases import Access, opened
from dqa.api.running import Named, default_deciders, name_objects
from dqa.core import errors
from dqa.core.database import Database
from dqa.core.decider import Decider
from dqa.core.decision import Decision, Ending, Usage
from dqa.core.events import EndingEvent, ReviewKind
from dqa.core.evidence import LOOKING_UP
from dqa.core.files import problem_of_path, require_new_file, write_private
from dqa.core.provenance import utc_now
from dqa.core.question import Candidate, Question
from dqa.core.recorder import DecisionWatcher, watched_by
from dqa.core.review import Reviewer, Reviewing, reviewed_by, reviewing_by
from dqa.core.simulator import Outcomes
from dqa.core.text import counted, shortened
from dqa.deciders.answers import choice_in, choice_of, read_statement
from dqa.deciders.base import DeciderFactory
from dqa.deciders.candidates import candidates_of
from dqa.deciders.reviewing import settle_decision
from dqa.deciders.simulation import Simulation
from dqa.evaluation.connecting import NamedDecider, connect, named_decider
from dqa.evaluation.decide import (
    decide_or_end,
    decision_span,
    describe_decision,
    end_decision,
    require_decision,
)
from dqa.evaluation.observers import tell_observers
from dqa.evaluation.options import DEFAULT_CALLS, CallOptions
from dqa.evaluation.results import DecisionKey
from dqa.evaluation.spec import Deciding
from dqa.evaluation.traces import Alternative, AskRecord, Provenance, Trace
from dqa.guard import GuardedDatabase
from dqa.loaders.custom_question import UserQuestion
from dqa.models.attempts import attempt_by
from dqa.scenarios import scenario_name

_LONGEST = 80
"""The maximum number of characters of an answer in a message."""
_STORED, _WORST = 1_000, 100
"""The maximum number of alternatives in a record, and the number of the worst ones among them."""


class Decisions:
    """A decider with connected models, which decides any number of questions.

    The limits on the rate and the number of parallel model calls apply to all questions together. A
    budget applies to each question separately.

    Parameters
    ----------
    decider
        A decider or its name; by default, the default decider of the installed packages.
    calls
        How models are called.
    scenarios
        Names or folders of scenarios. An agent may ask the questions of these scenarios.
    **deciding
        The fields of a `Deciding`: model, protocol, settings, ...

    Raises
    ------
    UsageError
        An argument is wrong.
    """

    def __init__(
        self,
        decider: Named | None = None,
        *,
        calls: CallOptions = DEFAULT_CALLS,
        scenarios: Sequence[str] = (),
        **deciding: Any,  # noqa: ANN401  (fields of the spec)
    ) -> None:
        (names,), fields, given = name_objects(deciding, decider or default_deciders("ask")[0])
        self.scenarios: Mapping[str, str] = {scenario_name(one): one for one in scenarios}
        self.name, self.calls, self.deciding = names[0], calls, Deciding(**fields)
        named = named_decider(self.name, self.deciding, given)
        self.names_model = "model" in deciding or named.model is not self.deciding.model
        self.connected = connect(self.deciding, [named], calls, given=given)

    @property
    def contestant(self) -> NamedDecider:
        """The decider with its model."""
        return self.connected.contestants[self.name]

    def make_decider(self) -> Decider:
        """Return a new decider with its own, unspent budget.

        All deciders of this object share the rate limits.
        """
        settings = self.connected.settings
        budget = self.calls.policy(self.deciding.seed, Usage).budget
        limited = replace(settings, calls=replace(settings.calls, budget=budget))
        connected = replace(self.connected, settings=limited)
        return connected.deciders(self.deciding.rule_set)[0][self.name]


def ask(  # noqa: PLR0913  (each is a question of its own to the caller)
    database: str | Path | Database,
    question: str | UserQuestion | None = None,
    *,
    decider: Named | Decisions | None = None,
    calls: CallOptions = DEFAULT_CALLS,
    watcher: DecisionWatcher | None = None,
    reviewer: Reviewer | None = None,
    review: Sequence[ReviewKind] = (),
    debug: bool = False,
    allow_no_evidence: bool | None = None,
    record: Path | str | bool = True,
    **fields: Any,  # noqa: ANN401  (fields of the question and of the spec)
) -> Trace:
    """Ask one question about any database.

    Parameters
    ----------
    database
        A URL, a database file, CSV or Parquet files, or an open database.
    question
        A question in the user's own words, or a `UserQuestion`.
    decider
        A decider, its name, or a `Decisions` object. A `Decisions` object already contains `calls`
        and the fields of a `Deciding`.
    calls
        How models are called.
    watcher
        Receives the events of the decision as they happen.
    reviewer, review
        `reviewer` is a function that takes a `Review` and returns a person's `ReviewAnswer`.
        `review` lists what the person reviews: ``plan``, ``statement`` (before it runs) or
        ``decision``.
    debug
        Whether the exception of a bug is raised. Otherwise a bug ends the decision as
        `Ending.CRASHED`.
    allow_no_evidence
        Whether to accept an answer without evidence. Otherwise such a decision ends as
        `Ending.NO_EVIDENCE`, without a choice. None accepts it only if the question has candidates
        and the decider is not an agent.
    record
        A new file for the record of the decision. True means a new file in `records_folder`. False
        means that no record is stored.
    **fields
        The fields of a `UserQuestion` (rules, candidates, ...) and of a `Deciding` (model,
        settings, ...). A model may be a LangChain chat model object. If `database` is a location,
        the fields may also be ``policy``, ``audit`` and ``tables`` of `open_database`.

    Returns
    -------
    Trace
        The decision with its events and warnings. `asked` contains the alternatives. `provenance`
        says who asked, when and why.

    Raises
    ------
    UsageError
        An argument is wrong, or the database has no table that may be read.
    ModelUnavailableError
        The model cannot be reached. The question was not asked.
    QueryError, DataError, InfrastructureError
        The contents of the database do not fit the question, or cannot be read.
    """
    access, changes = (
        {name: fields.pop(name) for name in names.keys() & fields.keys()}
        for names in (Access.__annotations__, UserQuestion.model_fields)
    )
    if not isinstance(question, UserQuestion):
        question, changes = UserQuestion(question=question, **changes), {}
    changed = question.changed(**changes)
    if changed.scenario is not None:
        scenario_name(changed.scenario)  # the folder of a scenario may define deciders
    if not isinstance(record, bool):
        require_new_file(Path(record))
    reviewing = reviewing_by(reviewer, review)
    if not isinstance(decider, Decisions):
        decider = Decisions(decider, calls=calls, **fields)
    with (
        opened(database, **access) as opened_database,
        watched_by(watcher or DecisionWatcher()),
        reviewed_by(reviewing),
    ):
        needs_evidence = None if allow_no_evidence is None else not allow_no_evidence
        trace = _decide(
            opened_database, changed, decider, reviewing, evidence=needs_evidence, debug=debug
        )
    return tell_observers(_store_record(trace, record))


def _decide(  # noqa: PLR0913  (as `ask`)
    database: Database,
    asked: UserQuestion,
    decisions: Decisions,
    reviewing: Reviewing | None,
    *,
    evidence: bool | None,
    debug: bool,
) -> Trace:
    """Return the trace of a decider's decision, with the alternatives."""
    if evidence is not False and not database.schema().parts:
        raise errors.UsageError(
            f"No table of '{database.name}' may be read, so no data can support a decision: choose "
            "another database, or allow tables by the parameters `policy` and `tables` (--policy, "
            "--tables)."
        )
    decider, question = decisions.make_decider(), asked.read(database)
    if reviewing is not None:
        reviewing.question = question.text
    scenario, described, policy = plugins.scenario_of(question), database, None
    if isinstance(database, GuardedDatabase):
        policy = database.policy.source
        described = database if scenario is None else database.described(scenario.schema)
    decisions.connected.check_reachable()
    listed = cache(lambda: candidates_of(question, described))
    # Missing outcomes are an error before the decider is called, so they cost no tokens.
    record, outcomes = _record_question(question, described, listed, decisions.deciding.rule_set)

    def decide() -> Decision:
        made = require_decision(decider.decide(question, described), decisions.name)
        made = _require_candidate(made, question, listed)
        if evidence is not False:
            made = _require_evidence(made, question, decisions.contestant.made, always=evidence)
        return _review(made, question, described, reviewing)

    key = DecisionKey(question.key, database.name, decisions.name)
    prices, model = decisions.calls.prices, decisions.connected.models[decisions.name]
    failures: list[Exception] = []
    time, named = utc_now(), uuid4().hex
    with (
        decision_span(key, question, decision=named, model=model) as span,
        attempt_by(question.key, decisions.name),
    ):
        decision = decide_or_end(decide, failures=failures)
        describe_decision(span, decision)
    spent = replace(decision, usage=decision.usage + decision.lost)
    trace = Trace.of(
        *(key, spent),
        kind=database.kind,
        model=model,
        cost=None if prices is None else prices.known_cost(spent.usage),
        provenance=Provenance.of(decision, named, time, policy),
        asked=_with_choice(record, outcomes, spent.choice),
    )
    if debug and failures:
        tell_observers(trace)
        raise failures[0]
    return trace


def require_decided(trace: Trace) -> None:
    """Raise an error if a failure unrelated to the question ended a decision."""
    problem = trace.error or "A server, the network or a provider failed."
    if trace.ending is Ending.INFRASTRUCTURE:
        raise errors.InfrastructureError(problem)
    if trace.ending is Ending.BUDGET:
        raise errors.BudgetSpentError(problem)
    if trace.ending is Ending.CRASHED:
        raise errors.CrashError(f"{trace.decider} crashed, which is a bug: {problem}")


def _require_evidence(
    decision: Decision, question: Question, made: object, *, always: bool | None
) -> Decision:
    """Remove the choice of a decision without evidence; see `allow_no_evidence` of `ask`.

    `made` is the decider or its factory. Agents need evidence for every question. Other deciders
    need none for a question with candidates, unless `always` is true.
    """
    queries = isinstance(made, DeciderFactory) and made.needs_model and "tools" in made.protocols
    lists = question.candidates is not None or question.candidate_query is not None
    if (
        decision.ending is not Ending.ANSWERED
        or any(one.error is None and one.tool not in LOOKING_UP for one in decision.evidence)
        or (lists and not queries and not always)
    ):
        return decision
    tried = counted(len(decision.evidence), "statement")
    ran = f"none of {tried} succeeded" if decision.evidence else "no statement was run"
    problem = (
        f"No data supports the answer '{shortened(decision.answer, _LONGEST)}': {ran}. "
        "To accept such answers, use --allow-no-evidence (allow_no_evidence=True)."
    )
    return _without_choice(decision, Ending.NO_EVIDENCE, problem)


def _require_candidate(
    decision: Decision, question: Question, listed: Callable[[], tuple[Candidate, ...] | None]
) -> Decision:
    """Remove the choice of a decision that names no candidate."""
    if decision.ending is not Ending.ANSWERED:
        return decision
    with suppress(errors.DqaError):  # a failure of the listing does not change the decision
        if candidates := listed():
            try:
                return replace(decision, choice=choice_in(decision, question, candidates))
            except errors.InvalidAnswerError as error:
                return _without_choice(decision, Ending.UNPARSABLE, str(error))
    return decision


def _without_choice(decision: Decision, ending: Ending, problem: str) -> Decision:
    """Return a decision that ended without a choice."""
    event = EndingEvent.of(ending, decision.steps, problem)
    ended = replace(decision, ending=ending, choice=None, error=problem)
    return replace(ended, trace=(*decision.trace, event))


def _review(
    decision: Decision, question: Question, database: Database, reviewing: Reviewing | None
) -> Decision:
    """Let a person review a decision. Return the decision that the person approved or corrected.

    Deciders that can continue after a refusal ask for the review themselves. This function is for
    all other deciders. For these deciders, a refusal ends the decision.
    """
    if reviewing is None or decision.ending is not Ending.ANSWERED or reviewing.has_decided:
        return decision
    before = len(reviewing.events)

    def choose(answer: str) -> Candidate | None:
        if question.answer_form == "statement":
            return read_statement(answer, database)
        return choice_of(answer, question, candidates_of(question, database))

    def reviewed() -> Decision:
        return replace(decision, trace=(*decision.trace, *reviewing.events[before:]))

    try:
        settled, choice = settle_decision(decision.answer, decision.choice, choose)
    except errors.StoppedError as error:
        return end_decision(reviewed(), error)
    if settled.text is not None:
        return replace(reviewed(), answer=settled.text, choice=choice)
    who = f" ({settled.by})" if settled.by else ""
    why = f": {settled.reason}" if settled.reason else ""
    refused = f"A person{who} refused the decision{why}. The decider cannot continue."
    return end_decision(reviewed(), errors.StoppedError(refused))


def _record_question(
    question: Question,
    database: Database,
    listed: Callable[[], tuple[Candidate, ...] | None],
    rule_set: str | None,
) -> tuple[AskRecord, Outcomes | None]:
    """Return the record of a question, and the outcomes of its candidates if they are known.

    The outcomes are queried from the database or simulated. If this fails, the record contains the
    reason, and the decision does not change. If the scenario's statement lacks outcomes, raise
    `OutcomesError`, because a decider could choose by the same rows.
    """
    record = AskRecord(
        text=question.text,
        rules=question.rules,
        scenario=question.scenario,
        target=dict(question.target),
    )
    try:
        candidates = listed()
        if candidates is None:
            return record, None
        if question.scenario not in plugins.names("simulator"):
            first = tuple(Alternative(candidate=one) for one in candidates[:_STORED])
            return record.changed(total=len(candidates), alternatives=first), None
        whole = replace(question, candidates=candidates)  # every candidate has an outcome
        simulation = Simulation(whole, database, rule_set)
        outcomes = simulation.outcomes
    except errors.OutcomesError:
        raise
    except Exception as error:  # noqa: BLE001  (a simulator is anyone's code)
        kind = "" if isinstance(error, errors.DqaError) else f"{type(error).__name__}: "
        return record.changed(problem=f"{kind}{error}"), None
    known = record.changed(
        total=len(outcomes.candidates),
        unit=simulation.unit,
        goal=outcomes.goal,
        baseline=outcomes.baseline,
        statement=simulation.statement,
    )
    return known, outcomes


def _with_choice(
    record: AskRecord, outcomes: Outcomes | None, choice: Candidate | None
) -> AskRecord:
    """Return the record with the outcomes, or else the first candidates, and with the choice."""
    shown, chosen = record.alternatives, () if choice is None else (choice,)
    if outcomes is not None:
        shown = Alternative.among(outcomes, chosen, _STORED - _WORST, _WORST)
    elif record.total:
        new = {*chosen}.difference(one.candidate for one in shown)
        shown += tuple(Alternative(candidate=one) for one in new)
    return record.changed(alternatives=shown)


def records_folder() -> Path:
    """Return the folder of decision records.

    The variable ``DQA_DECISIONS`` names the folder. By default it is ``dqa/decisions`` in the
    user's data folder (``XDG_DATA_HOME`` or ``~/.local/share``).
    """
    own = os.environ.get("DQA_DECISIONS")
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share"
    return Path(own) if own else Path(data, "dqa", "decisions")


def record_file(trace: Trace) -> Path | None:
    """Return the record's file in `records_folder`. Return None for a decision of a run."""
    provenance = trace.provenance
    if provenance is None:
        return None
    return (
        records_folder()
        / f"{provenance.time[:19].replace(':', '')}-{provenance.decision[:12]}.json"
    )


def _store_record(trace: Trace, record: Path | str | bool) -> Trace:
    """Store the record of a decision; see `ask`.

    If a named file cannot be written, an error is raised. If `records_folder` cannot be written,
    the decision gets a warning.
    """
    file = record_file(trace) if isinstance(record, bool) else Path(record)
    if record is False or file is None:
        return trace
    try:
        if record is True:
            file.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(trace.to_json(), indent=2, ensure_ascii=False) + "\n"
        write_private(file, text, new=True)
    except OSError as error:
        problem = f"The record is not stored: {problem_of_path(file, error, writing=True)}."
        if record is not True:
            raise errors.InfrastructureError(f"{problem} The answer was: {trace.answer}") from error
        return trace.changed(warnings=(*trace.warnings, problem))
    return trace


def write_decision_page(trace: Trace, file: Path | str) -> None:
    """Write the record of a decision as one self-contained page; see `write_page`."""
    from dqa.report.decision_page import render_decision
    from dqa.report.pages import write_page

    write_page(render_decision(trace), file)
