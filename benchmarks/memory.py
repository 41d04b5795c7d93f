"""How fast a memory is formed, opened and asked: LDM2's retrieval from 100,000 tuples.

::

    python benchmarks/memory.py --tuples 100000
    python benchmarks/memory.py --tuples 100000 --at postgresql://user:password@host/empty

Trajectories are made of the words of a household: goals, rooms and things drawn by a seed. They
are indexed by rules (no model), added batch by batch, and then asked for by states of other seeds:
warm, where a place was asked for before, and cold, where its index has to be made. ``--one`` puts
all of it into one batch and one place, the worst there can be.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from random import Random

from dqa.core.trajectories import Step, Trajectory
from dqa_ldm2.memory.base import Memory, Origin, Placed, State, StateAction
from dqa_ldm2.memory.building import RuleIndexer, form_memory
from dqa_ldm2.memory.opening import open_memory

THINGS = [f"{a}{b}" for a in ("soap", "tea", "salt", "cell", "note") for b in ("bar", "pot", "box")]
PLACES = ["cabinet", "drawer", "desk", "shelf", "countertop", "sinkbasin", "fridge", "microwave"]
DEEDS = ["put a", "put a clean", "put a hot", "put a cool", "find two", "look at a"]
STEPS = 10
WARM = 10.0
"""Milliseconds that the median of a warm retrieval may take."""


def trajectory(number: int) -> Trajectory:
    """Return the trajectory of a seed."""
    draw = Random(number)  # noqa: S311
    goal = f"{draw.choice(DEEDS)} {draw.choice(THINGS)} in {draw.choice(PLACES)}"
    return Trajectory(goal, tuple(_steps(draw)), f"made {number}", reward=1.0)


def _steps(draw: Random) -> Iterator[Step]:
    for _ in range(STEPS):
        place = f"{draw.choice(PLACES)} {draw.randrange(1, 9)}"
        seen = ", ".join(f"a {draw.choice(THINGS)} {draw.randrange(1, 5)}" for _ in range(6))
        yield Step(f"On the {place}, you see {seen}.", f"go to {place}")


def state(number: int) -> State:
    """Return where an agent is that plays a seed which nothing was made of."""
    made = trajectory(10_000_000 + number)
    step = made.steps[number % STEPS]
    before = made.steps[: number % STEPS]
    history = RuleIndexer().summarise(made.goal, before) if before else ""
    return State(made.goal, history, step.observation, frozenset({made.source}))


def milliseconds(work: Callable[[], object]) -> float:
    """Return how long something takes."""
    began = time.perf_counter()
    work()
    return 1000.0 * (time.perf_counter() - began)


def ask(memory: Memory, number: int, where: State) -> object:
    """Retrieve as an agent does: by goal type, then observation type, then the nearest."""
    batches = memory.batches()
    batch = batches[number % len(batches)]
    rules = RuleIndexer()
    goal_type = rules.classify("goal", where.goal, memory.goal_types(batch))
    kinds = memory.observation_types(batch, goal_type)
    return memory.recall(
        batch, goal_type, rules.classify("observation", where.observation, kinds), where, 4
    )


def form(memory: Memory, tuples: int, *, one: bool) -> None:
    """Fill a memory."""
    made = (trajectory(number) for number in range(tuples // STEPS))
    if not one:
        form_memory(memory, made, RuleIndexer(), source="benchmark", batch_size=100)
        return
    placed = [
        Placed(
            StateAction(each.goal, "", step.observation, step.action, each.source, number, 1.0),
            "all",
            "all",
        )
        for each in made
        for number, step in enumerate(each.steps, 1)
    ]
    memory.add(placed, Origin("formation", "benchmark"))


def spread(taken: list[float]) -> dict[str, float]:
    """Return the median and the 95th percentile."""
    ordered = sorted(taken)
    return {
        "median": round(statistics.median(ordered), 3),
        "95 %": round(ordered[int(0.95 * (len(ordered) - 1))], 3),
    }


def main() -> None:
    """Measure, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tuples", type=int, default=100_000)
    parser.add_argument("--asked", type=int, default=400)
    parser.add_argument("--at", help="the URL of an empty database; a file by default")
    parser.add_argument("--one", action="store_true", help="all in one place")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        location = given.at or f"{folder}/memory.db"
        with open_memory(location, create=True) as memory:
            forming = milliseconds(lambda: form(memory, given.tuples, one=given.one))
        opening = milliseconds(lambda: open_memory(location).close())
        with open_memory(location) as memory:
            states = [state(number) for number in range(given.asked)]
            cold = [milliseconds(partial(ask, memory, *each)) for each in enumerate(states)]
            for number in range(10 * given.asked):
                ask(memory, number, states[number % given.asked])
            began = time.process_time()
            warm = [milliseconds(partial(ask, memory, *each)) for each in enumerate(states)]
            processor = 1000 * (time.process_time() - began) / given.asked
            first = milliseconds(lambda: memory.search("a clean soapbar in the cabinet", 4))
            again = [
                milliseconds(lambda: memory.search("a clean soapbar in the cabinet", 4))
                for _ in range(20)
            ]
            median = spread(warm)["median"]
            told = {
                "tuples": given.tuples,
                "batches": len(memory.batches()),
                "s to form it by rules": round(forming / 1000, 1),
                "ms to open it": round(opening, 1),
                "ms of the first retrieval": round(cold[0], 1),
                "ms of a retrieval, cold": spread(cold),
                "ms of a retrieval, warm": spread(warm),
                "ms of the processor for one, warm": round(processor, 3),
                "ms of the first search of all": round(first, 1),
                "ms of a search of all, warm": spread(again),
            }
    print(json.dumps(told, indent=2))
    assert median <= WARM, f"{median} ms is more than {WARM}"


if __name__ == "__main__":
    main()
