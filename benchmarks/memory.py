"""How fast a memory of LDM2 is formed, opened and asked, warm against cold.

Run ``python -m benchmarks.memory`` (``--tuples 100000``, ``--asked 400``, ``--at URL``).
Trajectories are made of the words of a household by a seed, indexed by rules (no model), added in
batches, and asked for by states of other seeds. Cold: a location is asked for the first time, so
that its index has to be made. ``--at`` names an empty database; a file is the default. Exit code 1
where the median of a warm retrieval is over 10 ms.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from random import Random
from statistics import median

from benchmarks.measuring import taken
from dqa.core.trajectories import Step, Trajectory
from dqa_ldm2.memory.base import Memory, State
from dqa_ldm2.memory.building import RuleIndexer, form_memory
from dqa_ldm2.memory.opening import open_memory

NEEDS = ()
THINGS = [f"{a}{b}" for a in ("soap", "tea", "salt", "cell", "note") for b in ("bar", "pot", "box")]
PLACES = ["cabinet", "drawer", "desk", "shelf", "countertop", "sinkbasin", "fridge", "microwave"]
DEEDS = ["put a", "put a clean", "put a hot", "put a cool", "find two", "look at a"]
STEPS = 10
MOST_MILLISECONDS = 10.0


def make_trajectory(number: int) -> Trajectory:
    """Return the trajectory of a seed."""
    draw = Random(number)  # noqa: S311
    goal = f"{draw.choice(DEEDS)} {draw.choice(THINGS)} in {draw.choice(PLACES)}"
    return Trajectory(goal, tuple(_steps(draw)), f"made {number}", reward=1.0)


def _steps(draw: Random) -> Iterator[Step]:
    for _ in range(STEPS):
        place = f"{draw.choice(PLACES)} {draw.randrange(1, 9)}"
        seen = ", ".join(f"a {draw.choice(THINGS)} {draw.randrange(1, 5)}" for _ in range(6))
        yield Step(f"On the {place}, you see {seen}.", f"go to {place}")


def make_state(number: int) -> State:
    """Return the state of an agent that plays a seed which is in no memory."""
    made = make_trajectory(10_000_000 + number)
    before = made.steps[: number % STEPS]
    history = RuleIndexer().summarise(made.goal, before) if before else ""
    seen = made.steps[number % STEPS].observation
    return State(made.goal, history, seen, frozenset({made.source}))


def retrieve(memory: Memory, number: int, state: State) -> object:
    """Retrieve as an agent does: by goal type, then by observation type, then the nearest."""
    batches, rules = memory.batches(), RuleIndexer()
    batch = batches[number % len(batches)]
    goal_type = rules.classify("goal", state.goal, memory.goal_types(batch))
    kinds = memory.observation_types(batch, goal_type)
    observation_type = rules.classify("observation", state.observation, kinds)
    return memory.recall(batch, goal_type, observation_type, state, 4)


def milliseconds(works: Iterable[Callable[[], object]]) -> float:
    """Return the median of what several calls take."""
    return median(1e3 * taken(work).wall for work in works)


def main() -> int:
    """Measure, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tuples", type=int, default=100_000)
    parser.add_argument("--asked", type=int, default=400)
    parser.add_argument("--at", help="the URL of an empty database")
    given = parser.parse_args()
    made = (make_trajectory(number) for number in range(given.tuples // STEPS))
    with tempfile.TemporaryDirectory() as folder:
        location = given.at or f"{folder}/memory.db"
        with open_memory(location, create=True) as memory:
            formed = taken(
                lambda: form_memory(memory, made, RuleIndexer(), source="it", batch_size=100)
            )
        opened = taken(lambda: open_memory(location).close())
        with open_memory(location) as memory:
            asked = [
                partial(retrieve, memory, number, make_state(number))
                for number in range(given.asked)
            ]
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
