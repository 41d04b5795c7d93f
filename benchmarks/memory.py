"""The time to create, open and search a memory of LDM2, with and without a cached index.

Run ``python -m benchmarks.memory`` (``--tuples 100000``, ``--asked 400``, ``--at URL``).
Random tuples with the words of a household are added in batches. Then tuples are retrieved for
random states with other seeds. "cold" is the first retrieval, which creates the index. "warm" is a
later retrieval.
``--at`` names an empty database; the default is a file. The exit code is 1 if the median of warm
retrievals is above 10 ms.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterable
from functools import partial
from random import Random
from statistics import median

from benchmarks.measuring import taken
from dqa_ldm2 import Memory, Origin, State, StateAction, open_memory

THINGS = [f"{a}{b}" for a in ("soap", "tea", "salt", "cell", "note") for b in ("bar", "pot", "box")]
PLACES = ["cabinet", "drawer", "desk", "shelf", "countertop", "sinkbasin", "fridge", "microwave"]
DEEDS = ["put a", "put a clean", "put a hot", "put a cool", "find two", "look at a"]
STEPS = 10
MOST_MILLISECONDS = 10.0


def make_tuples(number: int) -> list[StateAction]:
    """Return the tuples of a random trajectory. `number` is the seed."""
    draw = Random(number)  # noqa: S311
    deed = draw.choice(DEEDS)
    goal = f"{deed} {draw.choice(THINGS)} in {draw.choice(PLACES)}"
    tuples, actions = [], list[str]()
    for step in range(1, STEPS + 1):
        place = draw.choice(PLACES)
        where = f"{place} {draw.randrange(1, 9)}"
        seen = ", ".join(f"a {draw.choice(THINGS)} {draw.randrange(1, 5)}" for _ in range(6))
        one = StateAction(
            goal=goal,
            history="; ".join(actions[-3:]),
            observation=f"On the {where}, you see {seen}.",
            action=f"go to {where}",
            source=f"made {number}",
            number=step,
            reward=1.0,
            goal_type=deed,
            observation_type=place,
        )
        actions.append(one.action)
        tuples.append(one)
    return tuples


def form(memory: Memory, trajectories: int) -> None:
    """Add trajectories to a memory in batches of 100."""
    for first in range(0, trajectories, 100):
        numbers = range(first, min(first + 100, trajectories))
        tuples = [one for number in numbers for one in make_tuples(number)]
        memory.add(tuples, Origin("formation", f"trajectories from {first}"))


def retrieve(memory: Memory, number: int) -> object:
    """Retrieve tuples like an agent in a game that the memory does not contain."""
    one = make_tuples(10_000_000 + number)[number % STEPS]
    batches = memory.batches()
    batch = batches[number % len(batches)]
    memory.goal_types(batch)
    memory.observation_types(batch, one.goal_type)
    state = State(one.goal, one.history, one.observation, frozenset({one.source}))
    return memory.find(batch, one.goal_type, one.observation_type, state, 4)


def milliseconds(works: Iterable[Callable[[], object]]) -> float:
    """Return the median time of several calls in milliseconds."""
    return median(1e3 * taken(work).wall for work in works)


def main() -> int:
    """Measure, and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tuples", type=int, default=100_000)
    parser.add_argument("--asked", type=int, default=400)
    parser.add_argument("--at", help="the URL of an empty database")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        location = given.at or f"{folder}/memory.db"
        with open_memory(location, create=True) as memory:
            formed = taken(lambda: form(memory, given.tuples // STEPS))
        opened = taken(lambda: open_memory(location).close())
        with open_memory(location) as memory:
            asked = [partial(retrieve, memory, number) for number in range(given.asked)]
            cold, warm = milliseconds(asked), milliseconds(10 * asked)
            search = partial(memory.search, "a clean soapbar in the cabinet", 4)
            first, again = milliseconds([search]), milliseconds([search] * 20)
            batches = len(memory.batches())
    print(f"{given.tuples:,} tuples in {batches} batches: formed in {formed.wall:.1f} s")
    print(f"opening {1e3 * opened.wall:.1f} ms")
    for name, slow, fast in (("retrieval", cold, warm), ("search of all", first, again)):
        print(f"{name}: cold {slow:.2f} ms, warm {fast:.2f} ms, {slow / fast:.1f} times")
    return int(warm > MOST_MILLISECONDS)


if __name__ == "__main__":
    sys.exit(main())
