"""The generator for scenarios with a simulator: it draws worlds, and questions with one answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import count as numbers
from typing import Any, cast
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from dqa import plugins
from dqa.core.errors import UsageError
from dqa.core.question import Question
from dqa.core.situation import Situation
from dqa.core.truth import LabelledQuestion, Truth
from dqa.loaders.generator.names import stems
from dqa.loaders.generator.questions import Asking, ask, rules_for
from dqa.scenarios.base import Scenario
from dqa.scenarios.generation import Difficulty, Draw, Drawn, Request, Size

_ATTEMPTS = 40
"""The maximum number of worlds that are drawn to find one with suitable questions."""

_AT_ONE_SIZE, _GROWTH = 10, 2
"""If the request fixes no size, the size is doubled after every 10 worlds without a question."""

_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
_REALMS = 1000  # names of realms; more databases repeat the names in other years


@dataclass(frozen=True, slots=True)
class SimulatedGenerator:
    """A generator, defined by the functions of a scenario.

    Attributes
    ----------
    build
        A function that draws a world from a name, a size and a difficulty. The world is not
        simulated yet.
    targets
        A function that lists the targets of a world in a year. Distractors are not targets.
    steps
        A function that returns the number of steps from each candidate to the question's target.
        The number is infinite if no path leads to the target.
    size
        The usual size of a world.
    factor
        A function that converts a quantile in 0..1 to the factor by which the size of a world is
        multiplied. The mean factor is near 1.
    per_database
        Default maximum number of questions per world.
    name
        The format of a situation's name. It may contain the fields ``realm``, ``year`` and
        ``first`` (the number of the situation's first question).
    year
        The year of the first database.
    rules
        The rule sets under which an answer must be the same; None for the simulator's first rule
        set. Difficulty is measured under the first rule set. Large worlds use only the first rule
        set.
    """

    build: Callable[[np.random.Generator, str, Any, Difficulty], Situation]
    targets: Callable[[Situation, int, int], list[Mapping[str, str]]]
    steps: Callable[[Situation, Question], NDArray[np.float64]]
    size: Size
    factor: Callable[[float], float]
    per_database: int
    name: str
    year: int
    rules: tuple[str, ...] = ("paper", "released")
    takes_difficulty: bool = True

    def questions(self, scenario: Scenario, request: Request) -> Iterator[Drawn]:
        """Yield worlds with questions; see `Generator.questions`."""
        series = _Series(self, scenario, request.seed, request.difficulty)
        most = request.per_database or self.per_database
        count = 0
        for database in numbers(request.databases_before):
            if count >= request.count:
                break
            first, wanted = request.questions_before + count + 1, min(most, request.count - count)
            drawn = series.search(database, first, wanted, request)
            count += len(drawn.questions)
            yield drawn

    def redraw(self, scenario: Scenario, draw: Draw) -> Drawn:
        """Draw a recorded world and its questions again, without searching for suitable worlds."""
        size: Size = replace(cast("Any", self.size), **draw.size)
        series = _Series(self, scenario, draw.seed, draw.difficulty)
        situation, _ = series.world(draw.database, draw.first, size, draw.attempt)
        questions = [
            LabelledQuestion(scenario.question(situation, "", target), Truth((answer,)))
            for target, answer in zip(draw.targets, draw.answers, strict=True)
        ]
        return Drawn(situation, questions, draw)

    def label_rules(self, situation: Situation) -> tuple[str, ...]:
        """Return the rule sets under which the answers about a world are right."""
        return rules_for(situation, self.rules)


class _Series:
    """The databases of one scenario and one seed. Each database has its own random stream."""

    def __init__(
        self, generator: SimulatedGenerator, scenario: Scenario, seed: int, difficulty: Difficulty
    ) -> None:
        self._generator = generator
        self._scenario = scenario
        self._seed = seed
        self._difficulty = difficulty
        self._key = (crc32(scenario.name.encode()), 0)
        rng = self._stream()
        self._start = float(rng.random())
        self._realms = stems(rng, _REALMS)

    def _stream(self, *key: int) -> np.random.Generator:
        seeds = np.random.SeedSequence(self._seed, spawn_key=(*self._key, *key))
        return np.random.Generator(np.random.PCG64(seeds))

    def search(self, database: int, first: int, wanted: int, request: Request) -> Drawn:
        """Draw worlds until one contains suitable questions.

        Return this world with at most `wanted` questions.

        Parameters
        ----------
        database
            The number of the database.
        first
            The number of the world's first question.
        wanted
            The maximum number of questions.
        request
            The request. If the request fixes no size, sizes differ between databases, and worlds
            become larger after failed attempts.
        """
        generator, difficulty, resistance = self._generator, self._difficulty, request.resistance
        # Quantiles advance by the golden ratio, so the first n quantiles are spread evenly for any
        # n.
        factor = generator.factor((self._start + database * _GOLDEN) % 1.0)
        usual = asdict(cast("Any", request.size or generator.size.scaled(factor)))
        asking = Asking(generator.rules, difficulty, generator.steps, first, resistance)
        for attempt in range(_ATTEMPTS):
            growth = 1 if request.size is not None else _GROWTH ** (attempt // _AT_ONE_SIZE)
            counts = {name: number * growth for name, number in usual.items()}
            size: Size = replace(cast("Any", generator.size), **counts)
            situation, targets = self.world(database, first, size, attempt)
            found = ask(self._scenario, situation, targets, wanted, asking)
            if found:
                draw = Draw(
                    seed=self._seed,
                    database=database,
                    attempt=attempt,
                    first=first,
                    size=counts,
                    difficulty=difficulty,
                    targets=tuple(dict(question.target) for question, _ in found),
                    answers=tuple(truth.answers[0] for _, truth in found),
                )
                return Drawn(situation, found, draw)
        raise UsageError(
            f"None of {_ATTEMPTS} worlds of '{self._scenario.name}' contains a suitable question "
            f"(the last world has {situation.row_count} rows). Change the limits "
            f"({difficulty.described}), or use larger worlds or another seed."
        )

    def world(
        self, database: int, first: int, size: Size, attempt: int
    ) -> tuple[Situation, list[Mapping[str, str]]]:
        """Draw and simulate the world of an attempt.

        Return the world, and the targets in random order.
        """
        generator, scenario = self._generator, self._scenario
        year = generator.year + database
        realm = self._realms[database % _REALMS].capitalize()
        name = generator.name.format(realm=realm, year=year, first=first)
        drawing, asking = self._stream(database, attempt).spawn(2)
        built = replace(self._difficulty, hops=self._difficulty.reach)
        world = generator.build(drawing, name, size, built)
        listed = generator.targets(world, year, self._difficulty.distractors)
        targets = [listed[i] for i in asking.permutation(len(listed))]
        if not targets:
            return world, []
        question = scenario.question(world, "", targets[0])
        simulator = plugins.simulator(scenario.name)
        return simulator.simulate(world, question, None, generator.rules[0]), targets
