"""Question sets from a seed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count as numbers
from statistics import NormalDist
from typing import Any
from zlib import crc32

import numpy as np

from dqa import plugins
from dqa.core.errors import UnknownNameError, UsageError
from dqa.core.question_set import QuestionSet
from dqa.core.situation import Situation
from dqa.core.truth import LabelledQuestion
from dqa.loaders.generator.names import stems
from dqa.loaders.generator.options import BuildingSize, Difficulty, LocatingSize, Size
from dqa.loaders.generator.questions import ask, targets_of
from dqa_simulators.building.generator import build_building
from dqa_simulators.locating.generator import build_locating
from dqa_simulators.worlds import UNCERTAIN_SCENARIOS, ask_world, uncertain_worlds

__all__ = ["SCENARIOS", "generate", "generate_like_release"]

_ATTEMPTS = 40
"""Worlds drawn for one database before the request is called impossible."""

_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
_REALMS = 1000  # names of realms; beyond, only their years tell databases apart


@dataclass(frozen=True, slots=True)
class _Recipe:
    """What is particular to generating one scenario."""

    build: Callable[[np.random.Generator, str, Any, Difficulty], Situation]
    size: Size
    factor: Callable[[float], float]  # uniform quantile to a size factor of mean 1
    per_database: int
    name: str  # format of a situation's name; the one that the release's layout gives it
    year: int  # of the first database
    release: tuple[int, int]  # questions and databases of the release


def _even(quantile: float) -> float:
    return 0.75 + 0.5 * quantile


def _lopsided(quantile: float) -> float:
    """Log-normal, as few economies are large and many small."""
    return math.exp(0.7 * NormalDist().inv_cdf(0.02 + 0.96 * quantile) - 0.2)


_RECIPES = {
    "locating": _Recipe(build_locating, LocatingSize(), _even, 20, "q{first}", 1450, (200, 7)),
    "building": _Recipe(
        build_building, BuildingSize(), _lopsided, 4, "{realm}{year}", 1850, (101, 37)
    ),
}

SCENARIOS = tuple(_RECIPES)
"""Scenarios whose worlds a simulator judges; those that are generated unless others are named."""


def generate(  # noqa: PLR0913  (each is a question of its own to the user)
    scenarios: Sequence[str] = SCENARIOS,
    count: int = 10,
    seed: int = 0,
    *,
    sizes: Sequence[Size] = (),
    difficulty: Difficulty | None = None,
    per_database: int | None = None,
) -> QuestionSet:
    """Generate `count` questions of each scenario, with their worlds.

    The same arguments give the same question set, on every machine. Every database has random
    streams of its own, so neither another scenario nor a larger `count` changes a question that
    was there before.

    Parameters
    ----------
    scenarios
        Which; each of `SCENARIOS` or `UNCERTAIN_SCENARIOS`.
    count
        Questions of each scenario.
    seed
        Not negative.
    sizes
        At most one a scenario, for all its worlds. A scenario without one gets worlds of varied
        sizes around the means of PlanRAG, Table 3.
    difficulty
        What makes the questions harder; by default nothing in particular. Worlds of known
        uncertainty know none.
    per_database
        Most questions that share a world; by default 20 (Locating) and 4 (Building), about what
        the release has, and 4 of `UNCERTAIN_SCENARIOS`.

    Returns
    -------
    QuestionSet
        Questions numbered from 1 in each scenario. Each has exactly one answer, the same under
        the rule sets ``paper`` and ``released`` (in worlds of more than 100,000 rows: ``paper``).
        In worlds of known uncertainty it has the highest true expected utility, and
        `Truth.outcomes` are the expected utilities of all candidates (`UncertainWorld`).

    Raises
    ------
    UsageError
        A number is out of range, a size is of a scenario that is not asked for, or no question of
        the wanted difficulty turns up, or a difficulty is asked of worlds that know none.
    UnknownNameError
        A scenario that cannot be generated.
    """
    _check(scenarios, count, seed, sizes, per_database)
    if difficulty not in (None, Difficulty()):
        _refuse_difficulty(scenarios)
    fixed = {size.scenario: size for size in sizes}
    questions: list[LabelledQuestion] = []
    situations: dict[str, Situation] = {}
    for scenario in dict.fromkeys(scenarios):
        if scenario in UNCERTAIN_SCENARIOS:
            questions.extend(_uncertain(scenario, count, seed, per_database, situations))
            continue
        recipe = _RECIPES[scenario]
        series = _Series(scenario, seed, difficulty or Difficulty())
        most = per_database or recipe.per_database
        asked: list[LabelledQuestion] = []
        for database in numbers():
            if len(asked) >= count:
                break
            size = fixed.get(scenario) or recipe.size.scaled(series.factor(database))
            draft = _Draft(database, len(asked) + 1, size, min(most, count - len(asked)), 1)
            situation, found = series.database(draft)
            situations[situation.name] = situation
            asked.extend(found)
        questions.extend(_numbered(asked))
    return QuestionSet.of(f"generated-{seed}", questions, situations)


def generate_like_release(seed: int = 0) -> QuestionSet:
    """Generate a question set with the official counts and mean sizes.

    200 Locating questions on 7 databases and 101 Building questions on 37, like the release. The
    sizes vary and are scaled so that their means over questions match Table 3 of PlanRAG: Locating
    2,038.8 rows, 1,432.3 edges and 606.5 vertices; Building 579.0 rows, 374.7 edges and 204.3
    vertices. (The Building files that were published have 545.7 rows on average; Table 3 is what
    others cite, so it is what is matched.)

    Parameters
    ----------
    seed
        Not negative.

    Returns
    -------
    QuestionSet
        301 questions, labelled like those of `generate`.

    Raises
    ------
    UsageError
        The seed is negative.
    """
    _check(SCENARIOS, 1, seed, (), None)
    questions: list[LabelledQuestion] = []
    situations: dict[str, Situation] = {}
    for scenario, recipe in _RECIPES.items():
        series = _Series(scenario, seed, Difficulty(), variant=1)
        total, databases = recipe.release
        shares = [total // databases + (i < total % databases) for i in range(databases)]
        factors = [series.factor(i) for i in range(databases)]
        mean = sum(f * share for f, share in zip(factors, shares, strict=True)) / total
        asked: list[LabelledQuestion] = []
        for i, wanted in enumerate(shares):
            size = recipe.size.scaled(factors[i] / mean)
            draft = _Draft(i, len(asked) + 1, size, wanted, wanted)
            situation, found = series.database(draft)
            situations[situation.name] = situation
            asked.extend(found)
        questions.extend(_numbered(asked))
    return QuestionSet.of(f"generated-like-release-{seed}", questions, situations)


def _uncertain(
    scenario: str,
    count: int,
    seed: int,
    per_database: int | None,
    situations: dict[str, Situation],
) -> list[LabelledQuestion]:
    """Return `count` questions about worlds of known uncertainty; add their `situations`."""
    asked: list[LabelledQuestion] = []
    for world, situation, rng in uncertain_worlds(scenario, seed):
        asked.extend(ask_world(world, situation, rng, per_database))
        situations[situation.name] = situation
        if len(asked) >= count:
            break
    return _numbered(asked[:count])


@dataclass(frozen=True, slots=True)
class _Draft:
    """A database to be drawn: its number, its first question's, and how many to ask."""

    number: int
    first: int
    size: Size
    wanted: int
    at_least: int


class _Series:
    """The databases of one scenario that come from one seed."""

    def __init__(self, scenario: str, seed: int, difficulty: Difficulty, variant: int = 0) -> None:
        self._scenario = scenario
        self._seed = seed
        self._difficulty = difficulty
        self._key = (crc32(scenario.encode()), variant)
        rng = self._generator()
        self._start = float(rng.random())
        self._realms = stems(rng, _REALMS)

    def _generator(self, *key: int) -> np.random.Generator:
        seeds = np.random.SeedSequence(self._seed, spawn_key=(*self._key, *key))
        return np.random.Generator(np.random.PCG64(seeds))

    def factor(self, database: int) -> float:
        """Give the size factor of a database.

        Quantiles advance by the golden ratio, so those of any first few databases are spread
        evenly and their mean is near 1.
        """
        return _RECIPES[self._scenario].factor((self._start + database * _GOLDEN) % 1.0)

    def database(self, draft: _Draft) -> tuple[Situation, list[LabelledQuestion]]:
        """Draw worlds until one has `at_least` questions; return it with at most `wanted`."""
        recipe, simulator = _RECIPES[self._scenario], plugins.simulator(self._scenario)
        year = recipe.year + draft.number
        realm = self._realms[draft.number % _REALMS].capitalize()
        name = recipe.name.format(realm=realm, year=year, first=draft.first)
        for attempt in range(_ATTEMPTS):
            building, asking = self._generator(draft.number, attempt).spawn(2)
            world = recipe.build(building, name, draft.size, self._difficulty)
            targets = targets_of(world, year, self._difficulty.distractors, asking)
            if len(targets) < draft.at_least:
                continue
            question = plugins.scenario(self._scenario).question(world, "", targets[0])
            situation = simulator.simulate(world, question, None, "paper")
            del world  # a large world's tables need not stay beside those of the result
            found = ask(situation, targets, draft.wanted, self._difficulty)
            if len(found) >= draft.at_least:
                return situation, found
        raise UsageError(
            f"{_ATTEMPTS} worlds of {draft.size} have no {draft.at_least} question(s) with one "
            f"sure answer at {self._difficulty}. Ask for a larger world, fewer hops or rivals, or "
            "wider margins."
        )


def _numbered(labelled: Sequence[LabelledQuestion]) -> list[LabelledQuestion]:
    return [
        LabelledQuestion(replace(question, id=str(i)), truth)
        for i, (question, truth) in enumerate(labelled, start=1)
    ]


def _check(
    scenarios: Sequence[str],
    count: int,
    seed: int,
    sizes: Sequence[Size],
    per_database: int | None,
) -> None:
    known = (*SCENARIOS, *UNCERTAIN_SCENARIOS)
    for scenario in scenarios:
        if scenario not in known:
            raise UnknownNameError("scenario that can be generated", scenario, known)
    if count < 1:
        raise UsageError(f"count must be at least 1, not {count}.")
    if seed < 0:
        raise UsageError(f"A seed must not be negative, but is {seed}.")
    if per_database is not None and per_database < 1:
        raise UsageError(f"per_database must be at least 1, not {per_database}.")
    given = [size.scenario for size in sizes]
    for scenario in given:
        if given.count(scenario) > 1:
            raise UsageError(f"There are {given.count(scenario)} sizes of '{scenario}'; give one.")
        if scenario not in scenarios:
            raise UsageError(
                f"A size of '{scenario}' is given, but only {', '.join(scenarios)} is asked for."
            )


def _refuse_difficulty(scenarios: Sequence[str]) -> None:
    for scenario in scenarios:
        if scenario in UNCERTAIN_SCENARIOS:
            raise UsageError(
                f"Worlds of '{scenario}' know no difficulty: leave hops, margins, rivals and "
                f"distractors away, or ask for {' or '.join(SCENARIOS)} alone."
            )
