"""Generate question sets from a seed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import count as count_from
from typing import Any, cast

from pydantic import TypeAdapter, ValidationError

from dqa import plugins
from dqa.core.errors import UnknownNameError, UsageError
from dqa.core.question_set import QuestionSet
from dqa.core.situation import Situation
from dqa.core.truth import LabelledQuestion
from dqa.scenarios import scenario_name
from dqa.scenarios.catalogue import scenarios as known_scenarios
from dqa.scenarios.generation import Difficulty, Drawn, Request, Size, require


def judged_scenarios() -> tuple[str, ...]:
    """Return the default scenarios of the generator, in order: all that have a simulator."""
    worlds = plugins.names("world")
    return tuple(
        found.name
        for found in known_scenarios()
        if found.document.generator is not None
        and found.outcomes.source != "recorded"
        and found.name not in worlds
    )


def generate(  # noqa: PLR0913  (each is a question of its own to the user)
    scenarios: Sequence[str] | None = None,
    count: int | None = None,
    seed: int = 0,
    *,
    sizes: Sequence[Size] | Mapping[str, Mapping[str, int | str]] = (),
    difficulty: Difficulty | None = None,
    per_database: int | None = None,
) -> QuestionSet:
    """Generate `count` questions per scenario, with their databases.

    The same arguments give the same question set on every machine. Each database has its own random
    stream. A larger `count` or an additional scenario therefore does not change the first
    questions.

    Parameters
    ----------
    scenarios
        Scenarios with a generator, by name or folder. By default, `judged_scenarios`; if
        `difficulty` is set, only the scenarios whose generator supports it.
    count
        Number of questions per scenario; by default 10.
    seed
        Not negative.
    sizes
        The sizes of worlds, at most one per scenario: sizes, or some fields by scenario and name.
        By default the sizes vary around the scenario's usual size.
    difficulty
        Bounds for harder questions; by default the usual bounds. Scenarios without a simulator do
        not support them.
    per_database
        Maximum number of questions per world; by default the scenario's usual number.

    Returns
    -------
    QuestionSet
        Questions, numbered from 1 in each scenario. Each question has exactly one answer. The
        answer is the same under every rule set of the generator. In worlds of more than 100,000
        rows, only the first rule set is checked. In scenarios without a simulator, `Truth.outcomes`
        are the true expected utilities of the candidates, and the answer is the candidate with the
        highest utility.

    Raises
    ------
    UsageError
        A number is out of range, a size belongs to a scenario that is not generated, no question of
        the difficulty was found, or a scenario does not support a difficulty.
    UnknownNameError
        A scenario has no generator.
    """
    difficulty = difficulty or Difficulty()
    is_harder = difficulty != Difficulty()
    if isinstance(sizes, Mapping):
        sizes = tuple(size_of(scenario, numbers) for scenario, numbers in sizes.items())
    count = 10 if count is None else count
    if scenarios is None:
        scenarios = [
            name for name in judged_scenarios() if not is_harder or _takes_difficulty(name)
        ]
    wanted = tuple(dict.fromkeys(plugins.scenario(scenario_name(one)).name for one in scenarios))
    _check(wanted, count, seed, sizes, per_database)
    for name in wanted:
        if is_harder and not _takes_difficulty(name):
            others = " or ".join(filter(_takes_difficulty, judged_scenarios()))
            raise UsageError(
                f"The difficulty of '{name}' cannot be set: leave out hops, margins, rivals, "
                f"distractors and mix, or generate only {others}."
            )
    fixed = {size.scenario: size for size in sizes}
    drawn = (
        plugins.generator(name).questions(
            plugins.scenario(name),
            Request(count, seed, fixed.get(name), difficulty, per_database),
        )
        for name in wanted
    )
    return gather(f"generated-{seed}", drawn)


def gather(name: str, scenarios: Iterable[Iterable[Drawn]]) -> QuestionSet:
    """Combine the generated questions of several scenarios, numbered from 1 in each."""
    questions: list[LabelledQuestion] = []
    situations: dict[str, Situation] = {}
    for drawn in scenarios:
        numbers = count_from(1)
        for situation, labelled, _ in drawn:
            situations[situation.name] = situation
            questions += [
                LabelledQuestion(replace(question, id=str(next(numbers))), truth)
                for question, truth in labelled
            ]
    found = QuestionSet.of(name, questions, situations)
    return replace(found, rule_set=next(iter(common_label_rules(found)), None))


def common_label_rules(question_set: QuestionSet) -> tuple[str, ...]:
    """Return the rule sets under which every label is right."""
    judged = set(plugins.names("simulator")) & set(plugins.names("generator"))
    used = {(q.scenario, q.situation) for q in question_set.questions if q.scenario in judged}
    rules = [
        plugins.generator(scenario).label_rules(question_set.situations[name])
        for scenario, name in sorted(used)
    ]
    every = set.intersection(*map(set, rules)) if rules else set()
    return tuple(name for name in (rules[0] if rules else ()) if name in every)


def size_of(scenario: str, numbers: Mapping[str, int | str]) -> Size:
    """Return the default size of a scenario's worlds with some numbers changed.

    Parameters
    ----------
    scenario
        Name of a scenario that can be generated.
    numbers
        The changed numbers as texts, by field of the size.

    Raises
    ------
    UnknownNameError
        The scenario's size has no such field.
    UsageError
        The scenario has only one size, a value is not a number, or no world can have this size.
    """
    usual = plugins.generator(scenario).size
    if usual is None:
        raise UsageError(f"The worlds of '{scenario}' have only one size: leave out the sizes.")
    known = asdict(cast("Any", usual))
    for name in numbers:
        if name not in known:
            raise UnknownNameError(f"size of worlds of '{scenario}'", name, known)
    try:
        size: Size = TypeAdapter(type(usual)).validate_python({**known, **numbers})
    except ValidationError as error:
        wrong = str(error.errors(include_url=False)[0]["loc"][-1])
        raise UsageError(
            f"The size {scenario}.{wrong} is '{numbers[wrong]}': give a whole number."
        ) from error
    return size


def _check(
    scenarios: Sequence[str],
    count: int,
    seed: int,
    sizes: Sequence[Size],
    per_database: int | None,
) -> None:
    for scenario in scenarios:
        plugins.generator(scenario)  # raises the error
    require(count >= 1, f"count must be at least 1, not {count}.")
    require(seed >= 0, f"The seed must not be negative, but is {seed}.")
    is_positive = per_database is None or per_database >= 1
    require(is_positive, f"per_database must be at least 1, not {per_database}.")
    sized = [size.scenario for size in sizes]
    for scenario in sized:
        several = f"'{scenario}' has {sized.count(scenario)} sizes; give only one."
        require(sized.count(scenario) == 1, several)
        others = f"but the questions are only about {', '.join(scenarios)}."
        require(scenario in scenarios, f"A size is given for '{scenario}', {others}")


def _takes_difficulty(scenario: str) -> bool:
    return plugins.generator(scenario).takes_difficulty
