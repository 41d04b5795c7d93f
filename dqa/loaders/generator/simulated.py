"""The generator for scenarios with a simulator: series of worlds, questions with one answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import count as numbers
from typing import Any, NamedTuple, cast
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from dqa import plugins
from dqa.core.errors import UsageError
from dqa.core.question import Question
from dqa.core.situation import Situation
from dqa.core.truth import LabelledQuestion, Truth
from dqa.loaders.generator.names import stems
from dqa.loaders.generator.questions import Asking, ask
from dqa.scenarios.base import Scenario
from dqa.scenarios.generation import Difficulty, Draw, Drawn, Request, Resistance, Size

_ATTEMPTS = 40
"""Maximum number of worlds that are drawn for one database."""

_AT_ONE_SIZE, _GROWTH = 10, 2
"""After 10 worlds without a question, the size of the next ones doubles, unless it is fixed."""

_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
_REALMS = 1000  # names of realms; beyond, only their years tell databases apart


@dataclass(frozen=True, slots=True)
class SimulatedGenerator:
    """A generator, defined by the functions of a scenario.

    Attributes
    ----------
    build
        Draws a world with a name, a size and a difficulty, without results of a simulation.
    targets
        Lists the targets of a world in a year of its series, without distractors.
    steps
        Returns the number of steps from each candidate to the question's target; infinite if no
        path leads there.
    size
        The usual size of a world.
    factor
        Returns the size factor (mean near 1) of a quantile.
    per_database
        Default maximum number of questions per world.
    name
        Format of a situation's name over ``realm``, ``year`` and ``first`` (its first question).
    year
        Of the first database.
    rules
        The rule sets under which an answer must be the same; None for the simulator's first one.
        Difficulty is measured under the first one, and large worlds use only that one.
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
        """Yield worlds with questions; see `Generator`."""
        series = _Series(self, scenario, request.seed, request.difficulty)
        series.resistance = request.resistance
        most = request.per_database or self.per_database
        asked, before = 0, request.questions_before
        for database in numbers(request.databases_before):
            if asked >= request.count:
                break
            size = request.size or self.size.scaled(series.factor(database))
            wanted = min(most, request.count - asked)
            draft = _Draft(database, before + asked + 1, size, wanted, 1, request.size is None)
            drawn = series.database(draft)
            asked += len(drawn.questions)
            yield drawn

    def redraw(self, scenario: Scenario, draw: Draw) -> Drawn:
        """Draw a world again with its questions, without the search that found them."""
        size: Size = replace(cast("Any", self.size), **draw.size)
        series = _Series(self, scenario, draw.seed, draw.difficulty)
        draft = _Draft(draw.database, draw.first, size, len(draw.targets), len(draw.targets))
        situation, _ = series.world(draft, size, draw.attempt)
        asked = [
            LabelledQuestion(scenario.question(situation, "", target), Truth((answer,)))
            for target, answer in zip(draw.targets, draw.answers, strict=True)
        ]
        return Drawn(situation, asked, draw)

    def label_rules(self, situation: Situation) -> tuple[str, ...]:
        """Return the rule sets under which the answers about a world are right."""
        return Asking(self.rules, Difficulty(), self.steps).about(situation).rules


class _Draft(NamedTuple):
    """A database to draw: its number, the number of its first question, and how many to ask.

    `grows` allows larger worlds if worlds of the size have no question.
    """

    number: int
    first: int
    size: Size
    wanted: int
    at_least: int
    grows: bool = False

    def size_at(self, attempt: int) -> Size:
        """Return the size of the world that is drawn at an attempt."""
        factor = _GROWTH ** (attempt // _AT_ONE_SIZE) if self.grows else 1
        numbers = asdict(cast("Any", self.size))
        grown: Size = replace(
            cast("Any", self.size), **{name: number * factor for name, number in numbers.items()}
        )
        return grown


class _Series:
    """The databases of one scenario from one seed. Each has its own random stream."""

    def __init__(
        self,
        generator: SimulatedGenerator,
        scenario: Scenario,
        seed: int,
        difficulty: Difficulty,
    ) -> None:
        self._generator = generator
        self._scenario = scenario
        self._seed = seed
        self._difficulty = difficulty
        self.resistance: Resistance | None = None
        self._key = (crc32(scenario.name.encode()), 0)
        rng = self._stream()
        self._start = float(rng.random())
        self._realms = stems(rng, _REALMS)

    def _stream(self, *key: int) -> np.random.Generator:
        seeds = np.random.SeedSequence(self._seed, spawn_key=(*self._key, *key))
        return np.random.Generator(np.random.PCG64(seeds))

    def factor(self, database: int) -> float:
        """Return the size factor of a database.

        Quantiles advance by the golden ratio, so those of the first n databases are spread evenly.
        """
        return self._generator.factor((self._start + database * _GOLDEN) % 1.0)

    def database(self, draft: _Draft) -> Drawn:
        """Draw worlds until one has `at_least` questions; return it with at most `wanted`."""
        generator = self._generator
        asking = Asking(
            generator.rules, self._difficulty, generator.steps, draft.first, self.resistance
        )
        for attempt in range(_ATTEMPTS):
            size = draft.size_at(attempt)
            situation, targets = self.world(draft, size, attempt)
            if len(targets) < draft.at_least:
                asking.tally.rows.append(situation.row_count)
                continue
            found = ask(self._scenario, situation, targets, draft.wanted, asking)
            if len(found) >= draft.at_least:
                draw = Draw(
                    seed=self._seed,
                    database=draft.number,
                    attempt=attempt,
                    first=draft.first,
                    size=asdict(cast("Any", size)),
                    difficulty=self._difficulty,
                    targets=tuple(dict(question.target) for question, _ in found),
                    answers=tuple(truth.answers[0] for _, truth in found),
                )
                return Drawn(situation, found, draw)
            if asking.tally.hopeless:
                break
        problem = asking.tally.problem(self._scenario.name, self._difficulty, self.resistance)
        raise UsageError(problem)

    def world(
        self, draft: _Draft, size: Size, attempt: int
    ) -> tuple[Situation, list[Mapping[str, str]]]:
        """Draw the world of an attempt after a simulation, and its targets in random order."""
        generator, scenario = self._generator, self._scenario
        year = generator.year + draft.number
        realm = self._realms[draft.number % _REALMS].capitalize()
        name = generator.name.format(realm=realm, year=year, first=draft.first)
        drawing, asking = self._stream(draft.number, attempt).spawn(2)
        built = replace(self._difficulty, hops=self._difficulty.reach)
        world = generator.build(drawing, name, size, built)
        listed = generator.targets(world, year, self._difficulty.distractors)
        targets = [listed[i] for i in asking.permutation(len(listed))]
        if not targets:
            return world, []
        question = scenario.question(world, "", targets[0])
        simulator = plugins.simulator(scenario.name)
        return simulator.simulate(world, question, None, generator.rules[0]), targets
