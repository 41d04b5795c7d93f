"""From a spec to a run: names looked up, models connected, questions read, deciders made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from dqa.core.decider import Decider, UpperBound
from dqa.core.decision import Usage
from dqa.core.errors import UsageError
from dqa.core.question import Question
from dqa.core.question_set import QuestionSet
from dqa.core.schema import describe
from dqa.evaluation.connecting import Connected, GivenObjects, connect
from dqa.evaluation.options import DEFAULT_CALLS, DEFAULT_RUN, CallOptions, RunOptions
from dqa.evaluation.plan import Setup
from dqa.evaluation.score import Judge, usual_rules
from dqa.evaluation.spec import RunSpec
from dqa.evaluation.targets import descriptions_for, places_of, targets_of
from dqa.guard import Audit, Policy
from dqa.guard.visible import require_known
from dqa.loaders.sources import GeneratedQuestions
from dqa.scenarios import scenario_name


@dataclass(frozen=True, slots=True)
class BuiltRun:
    """A run that is ready to begin.

    Attributes
    ----------
    spec
        The spec, with its rule set.
    setup
        Questions, databases and deciders.
    judge
        Judges each decision.
    connected
        The deciders' models.
    warnings
        Warnings for the user before it begins.
    """

    spec: RunSpec
    setup: Setup
    judge: Judge
    connected: Connected
    warnings: tuple[str, ...] = ()


def build(  # noqa: PLR0913  (each is a question of its own to the caller)
    spec: RunSpec,
    *,
    calls: CallOptions = DEFAULT_CALLS,
    options: RunOptions = DEFAULT_RUN,
    resumed: Callable[[], Usage] | None = None,
    questions: QuestionSet | None = None,
    given: GivenObjects = GivenObjects(),  # noqa: B008  (frozen)
) -> BuiltRun:
    """Look up every name, connect the models and read the questions.

    Names are looked up before questions are read: a wrong name costs no reading.

    Parameters
    ----------
    spec
        The spec.
    calls, options
        How models are called, and how the run works.
    resumed
        For a run that resumes, returns its usage outside of this process.
    questions
        The questions of a spec that does not say where they come from.
    given
        Deciders without an entry point, and chat models without a provider.
    """
    # Scenarios that are named by their folders may bring deciders of their own.
    for name in (*(spec.questions.scenarios or ()), *spec.questions.default_scenarios):
        scenario_name(name)
    connected = connect(
        *(spec, spec.deciders, calls),
        models=spec.models,
        epochs=spec.epochs,
        resumed=resumed,
        given=given,
    )
    lists: dict[str, Any] | None = None if spec.policy is None else dict(spec.policy)
    policy = None if lists is None else Policy(**lists)
    audit = None if options.audit is None else Audit.to_file(options.audit)
    targets = targets_of(spec.databases, policy, audit, options.isolation)
    if questions is None:
        questions = spec.questions.read(policy, audit)
    described = descriptions_for(questions)
    places = places_of(questions.places, policy, audit, options.isolation, described)
    if spec.rule_set is None:
        spec = spec.changed(rule_set=usual_rules(questions))
    if policy is not None:
        loaded = [s for name, s in questions.situations.items() if name not in questions.places]
        if loaded:
            require_known(policy, [describe(found.schema) for found in loaded])
    deciders, *repeats = (
        {
            name: one.with_truths(questions.truths) if isinstance(one, UpperBound) else one
            for name, one in epoch.items()
        }
        for epoch in connected.deciders(spec.rule_set)
    )
    setup = Setup(
        *(questions, targets, deciders, connected.models, tuple(repeats)),
        scenarios=connected.scenarios,
        places=places,
    )
    is_open = isinstance(spec.questions, GeneratedQuestions) and spec.questions.scenarios is None
    setup, left_out = _check(setup, may_leave_out=is_open)
    judge = Judge(setup.questions, spec.rule_set, spec.strict_official, spec.r_ves)
    return BuiltRun(spec, setup, judge, connected, (*connected.warnings, *left_out))


def _check(setup: Setup, *, may_leave_out: bool) -> tuple[Setup, tuple[str, ...]]:
    """Let deciders refuse questions that they cannot decide, before anything is asked.

    Returns
    -------
    Setup
        Without the scenarios that a decider refuses, if they `may_leave_out`: the user named none.
    tuple of str
        A line for each decider or scenario that leaves something out.

    Raises
    ------
    UsageError
        A decider refuses a scenario, or none of them decides any.
    """
    asked, lines = setup.questions.questions, []
    first = {question.scenario: question for question in reversed(asked)}
    # Questions of a scenario are alike; a user's own questions may differ.
    own = [question for question in asked if setup.questions.is_in_place(question)]
    refused: dict[str, UsageError] = {}
    for question in (*first.values(), *own):
        try:
            for name in setup.deciders_of(question.scenario):
                check_decider(setup.deciders[name], question)
        except UsageError as error:
            refused.setdefault(question.scenario, error)
    stay = tuple(scenario for scenario in first if scenario not in refused)
    if refused and not (may_leave_out and stay):
        raise next(iter(refused.values()))
    for scenario, problem in sorted(refused.items()):
        lines.append(f"{scenario}: left out, as it was not named (--scenarios): {problem}")
    if refused:
        setup = replace(setup, questions=setup.questions.select(stay))
    for name, decided in setup.scenarios.items():
        if left := sorted(set(stay) - set(decided)):
            only, rest = " and ".join(decided), " and ".join(left)
            lines.append(f"{name}: decides {only} only; questions of {rest} are left out.")
    if not any(map(setup.deciders_of, stay)):
        raise UsageError(
            f"{setup.questions.name} has no question for any of these deciders: {' '.join(lines)} "
            "Name others."
        )
    return setup, tuple(lines)


def check_decider(decider: Decider, question: Question) -> None:
    """Let a decider refuse a question, or refuse one that wants another form of answer."""
    if question.answer_form not in decider.answer_forms:
        form = "a statement" if question.answer_form == "statement" else "one of its candidates"
        raise UsageError(
            f"'{decider.name}' cannot answer '{question.key}', which asks for {form}: name another "
            "decider (--deciders)."
        )
    decider.check(question)
