"""From a spec to a run: names looked up, models connected, questions read, deciders made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dqa.core.decider import Decider, UpperBound
from dqa.core.decision import Usage
from dqa.core.errors import UsageError
from dqa.core.question import Question
from dqa.core.question_set import QuestionSet
from dqa.core.schema import describe
from dqa.evaluation.connecting import Connected, GivenObjects, connect
from dqa.evaluation.examples import OtherQuestions
from dqa.evaluation.options import DEFAULT_CALLS, DEFAULT_RUN, CallOptions, RunOptions
from dqa.evaluation.plan import Setup
from dqa.evaluation.score import Judge, usual_rules
from dqa.evaluation.spec import RunSpec
from dqa.evaluation.targets import descriptions_for, places_of, targets_of
from dqa.guard import Audit, Policy
from dqa.guard.policy_names import require_known
from dqa.loaders.sources import GeneratedQuestions
from dqa.scenarios import scenario_name


@dataclass(frozen=True, slots=True)
class BuiltRun:
    """A run that is ready to begin; close it in the end (`contextlib.closing`).

    Attributes
    ----------
    spec
        What is evaluated, its rule set named.
    setup
        Questions, databases and deciders.
    judge
        Judges each decision.
    examples
        Where agents that are shown an example take it from.
    connected
        The deciders' models.
    warnings
        What the user should know before it begins.
    """

    spec: RunSpec
    setup: Setup
    judge: Judge
    examples: OtherQuestions
    connected: Connected
    warnings: tuple[str, ...] = ()

    def close(self) -> None:
        """Close the databases of examples, and those on which statements were scored."""
        self.examples.close()
        self.judge.close()


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
        What is evaluated.
    calls, options
        How models are called, and how the run works.
    resumed
        For a run that resumes, returns its usage outside of this process.
    questions
        The questions of a spec that does not say where they come from.
    given
        Deciders without an entry point, and chat models without a provider.
    """
    examples = OtherQuestions()
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
    examples.take(questions)
    deciders, *repeats = (
        {
            name: one.with_truths(questions.truths) if isinstance(one, UpperBound) else one
            for name, one in epoch.items()
        }
        for epoch in connected.deciders(spec.rule_set, examples)
    )
    setup = Setup(
        *(questions, targets, deciders, connected.models, tuple(repeats)),
        scenarios=connected.scenarios,
        places=places,
    )
    unasked: tuple[str, ...] = ()
    if isinstance(spec.questions, GeneratedQuestions) and spec.questions.scenarios is None:
        setup, unasked = _without_refused(setup)
    left_out = _check(setup)
    judge = Judge(setup.questions, spec.rule_set, spec.strict_official, places)
    warnings = (*connected.warnings, *unasked, *left_out)
    return BuiltRun(spec, setup, judge, examples, connected, warnings)


def _without_refused(setup: Setup) -> tuple[Setup, tuple[str, ...]]:
    """Leave out the scenarios that a decider refuses, where nobody named any.

    A scenario that somebody installs may be one that a script of ours knows nothing of: then the
    others are decided as before, and a line says what is left out.
    """
    first = {question.scenario: question for question in reversed(setup.questions.questions)}
    refused: dict[str, str] = {}
    for scenario, question in first.items():
        try:
            for name in setup.deciders_of(scenario):
                setup.deciders[name].check(question)
        except UsageError as error:
            refused[scenario] = str(error)
    kept = tuple(scenario for scenario in first if scenario not in refused)
    if not kept or not refused:
        return setup, ()
    lines = (
        f"{scenario}: left out, as nobody named it (scenarios, --scenarios): {problem}"
        for scenario, problem in sorted(refused.items())
    )
    return replace(setup, questions=setup.questions.select(kept)), tuple(lines)


def _check(setup: Setup) -> tuple[str, ...]:
    """Let deciders refuse what they could never decide, before anything is asked.

    Returns
    -------
    tuple of str
        By the scenarios that some of them decide alone, a line that says what they leave out.

    Raises
    ------
    UsageError
        A decider refuses a scenario, or none of them decides any.
    """
    asked = setup.questions.questions
    first = {question.scenario: question for question in reversed(asked)}
    # Those of a scenario are alike; of a user's own each may lack what the others have.
    own = [question for question in asked if setup.questions.is_in_place(question)]
    for question in (*first.values(), *own):
        for name in setup.deciders_of(question.scenario):
            _check_form(setup.deciders[name], question)
            setup.deciders[name].check(question)
    if not any(setup.deciders_of(scenario) for scenario in first):
        raise UsageError(
            f"{setup.questions.name} has no question for any of these deciders: "
            f"{', '.join(f'{name} decides {_all_of(of)}' for name, of in setup.scenarios.items())}"
            f", and its questions are of {_all_of(sorted(first))}. Name others."
        )
    together: dict[tuple[str, ...], list[str]] = {}
    for name, decided in setup.scenarios.items():
        together.setdefault(decided, []).append(name)
    return tuple(
        f"{', '.join(names)}: decided on questions of {_all_of(decided)} alone; those of "
        f"{_all_of(left)} are left out."
        if len(left) < len(first)
        else f"{', '.join(names)}: nothing to decide here, as that takes questions of "
        f"{_all_of(decided)}, and these are of {_all_of(left)}."
        for decided, names in together.items()
        if (left := sorted(set(first) - set(decided)))
    )


def _check_form(decider: Decider, question: Question) -> None:
    """Refuse a question that wants another form of answer than a decider gives."""
    if question.answer_form not in decider.answer_forms:
        raise UsageError(
            f"'{decider.name}' decides between candidates and cannot answer '{question.key}', "
            "which asks for a statement whose rows are the answer: name deciders that write "
            "statements (--deciders), such as agents that query the database."
            if question.answer_form == "statement"
            else f"'{decider.name}' answers with statements, and '{question.key}' asks for one of "
            "its candidates: name another decider (--deciders)."
        )


def _all_of(names: Sequence[str]) -> str:
    return " and ".join(names)
