"""The contract of a memory, for every database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest

from dqa.core.decider import Step, Trajectory
from dqa.core.errors import UsageError
from dqa_ldm2 import Indexer, Memory, ModelUse, Origin, State, StateAction, form_memory, open_memory
from tests.programs import start_python

FORMED = Origin("formation", "a test")
REFINED = Origin("refinement", "exploring", "a model")
DESKS = ("you see desk 1", "you see desk 2 and a lamp", "you see drawer 3")


def make_tuple(
    observation: str,
    action: str = "wait",
    *,
    source: str = "home 1",
    goal: str = "put a mug in the desk",
    kinds: tuple[str, str] = ("put", "see"),
    **more: Any,
) -> StateAction:
    """Return a tuple with its types."""
    return StateAction(
        goal=goal,
        observation=observation,
        action=action,
        source=source,
        goal_type=kinds[0],
        observation_type=kinds[1],
        **{"history": "nothing yet", "reward": 0.5, **more},
    )


def state(observation: str, *excluded: str) -> State:
    """Return a state to search for."""
    return State("put a mug in the desk", "", observation, frozenset(excluded))


def actions(memory: Memory) -> list[str]:
    """Return the actions of a memory's tuples, in the order of ids."""
    return [each.action for each in memory.tuples()]


def fields(one: StateAction) -> dict[str, Any]:
    """Return the stored fields of a tuple."""
    return {name: getattr(one, name) for name in StateAction.__dataclass_fields__}


def trajectories(count: int, first: int = 0) -> list[Trajectory]:
    """Return trajectories of a few kinds of goals."""
    deeds = ("put a", "find two", "look at a")
    return [
        Trajectory(
            f"{deeds[number % 3]} thing {number}",
            tuple(Step(f"On the desk {n}, you see {number}.", f"go to desk {n}") for n in (1, 2)),
            f"home {number}",
            reward=1.0,
        )
        for number in range(first, first + count)
    ]


def form(memory: Memory, made: list[Trajectory], batch_size: int = 50) -> object:
    """Form a memory with the scripted analyst."""
    return form_memory(memory, made, Indexer(ModelUse()), source="all", batch_size=batch_size)


_FORMING = """
import sys
import dqa_ldm2
from dqa.core.decider import Step, Trajectory

steps = (Step("On the desk", "go"), Step("On the chair", "sit"))
made = [Trajectory(f"put thing {n}", steps, f"home {n}") for n in range(12)]
with dqa_ldm2.open_memory(sys.argv[1]) as memory:
    indexer = dqa_ldm2.Indexer(dqa_ldm2.ModelUse())
    dqa_ldm2.form_memory(memory, made, indexer, source="all", batch_size=4)
"""
"""The program of several processes at once."""


class MemoryContract:
    """Tests of a memory; subclasses have a fixture `location` where no memory exists."""

    processes: ClassVar[int] = 2

    @pytest.fixture
    def memory(self, location: str) -> Iterator[Memory]:
        """Return an empty memory."""
        with open_memory(location, create=True) as memory:
            yield memory

    def test_added_tuples_are_found_by_likeness(self, memory: Memory, location: str) -> None:
        """The nearest first, equal to what was added, also in another process."""
        tuples = [
            make_tuple(text, f"act {n}", number=n, subgoals="put: not complete")
            for n, text in enumerate(DESKS, 1)
        ]
        other = make_tuple("a shelf", "reach", goal="heat it \u2603 'now'", kinds=("heat", "shelf"))
        version = memory.add([*tuples, other], FORMED)
        assert (version.number, version.added, version.batches) == (1, 4, (1,))
        with open_memory(location) as again:
            assert again.batches() == (1,)
            assert [(t.name, t.size, t.examples) for t in again.goal_types(1)] == [
                ("put", 3, ("put a mug in the desk",)),
                ("heat", 1, ("heat it \u2603 'now'",)),
            ]
            (kind,) = again.observation_types(1, "put")
            assert (kind.name, kind.size, kind.examples) == ("see", 3, DESKS)
            found = again.find(1, "put", "see", state("a lamp on desk 2"), 2)
            assert list(map(fields, found)) == list(map(fields, [tuples[1], tuples[0]]))
            assert found[0].likeness > found[1].likeness > 0
            (only,) = again.find(1, "heat", "shelf", state("a lamp on desk 2"), 2)
            assert fields(only) == fields(other)

    def test_a_type_without_tuples_falls_back(self, memory: Memory) -> None:
        """To its goal type, then to the batch, but not to another batch."""
        memory.add(
            [make_tuple("red", kinds=("a", "b")), make_tuple("blue", kinds=("c", "d"))], FORMED
        )
        memory.add([make_tuple("green", source="home 2")], FORMED)
        for place, seen in {("a", "none"): ["red"], ("none", "b"): ["red", "blue"]}.items():
            found = memory.find(1, *place, state("grey"), 9)
            assert [each.observation for each in found] == seen
        with pytest.raises(UsageError, match=r"no batch 7\b.*\b1, 2\."):
            memory.find(7, "a", "b", state("red"), 1)
        with pytest.raises(UsageError, match="at least 1"):
            memory.find(1, "a", "b", state("red"), 0)

    def test_an_excluded_source_is_never_found(self, memory: Memory) -> None:
        """Neither by likeness, fallback or search, nor as an example of a type."""
        planted = make_tuple("the very question", "THE ANSWER", source="asked now", goal="the goal")
        memory.add([planted, make_tuple("something else", "try")], FORMED)
        asked = State("the goal", "", "the very question", frozenset({"asked now"}))
        for place in (("put", "see"), ("put", "none"), ("none", "none")):
            assert [one.action for one in memory.find(1, *place, asked, 5)] == ["try"]
        found = memory.search("THE ANSWER the very question", 5, asked.excluded)
        assert [one.action for one in found] == ["try"]
        for types in (
            memory.goal_types(1, asked.excluded),
            memory.observation_types(1, "put", asked.excluded),
        ):
            (kind,) = types
            assert kind.size == 1
            assert "question" not in str(types)
            assert "the goal" not in str(types)

    def test_equal_tuples_of_a_batch_count_once(self, memory: Memory) -> None:
        """Other batches have their own, and each version counts its additions."""
        first = memory.add(
            [make_tuple("a"), make_tuple("b"), make_tuple("a", source="home 2")], FORMED
        )
        again = memory.add([make_tuple("a", source="home 3"), make_tuple("c")], REFINED, batch=1)
        new = memory.add([make_tuple("a", source="home 4")], FORMED)
        assert [each.added for each in (first, again, new)] == [2, 1, 1]
        assert [each.batches for each in memory.versions()] == [(1,), (1,), (2,)]
        assert len(actions(memory)) == 6
        assert len(memory.find(1, "put", "see", state("a b c"), 9)) == 3
        assert [kind.size for kind in memory.goal_types(1)] == [3]
        assert memory.sources() == {f"home {n}" for n in (1, 2, 3, 4)}
        assert memory.sources("refinement") == {"home 3", "home 1"}
        with pytest.raises(UsageError, match="no batch 9"):
            memory.add([make_tuple("d")], REFINED, batch=9)
        assert len(memory.versions()) == 3
        assert memory.add([make_tuple("z", source="home 1")], FORMED).batches == ()

    def test_an_addition_is_undone(self, memory: Memory, location: str) -> None:
        """Tuples of later additions stay, and another process sees the change."""
        other = open_memory(location)
        memory.add([make_tuple("a", "one"), make_tuple("b", "two")], FORMED)
        memory.add(
            [make_tuple("a", "one", source="home 9"), make_tuple("c", "three")], REFINED, batch=1
        )
        assert len(other.find(1, "put", "see", state("b"), 9)) == 3
        undone = memory.undo(1)
        assert undone.is_undone
        assert [each.is_undone for each in memory.versions()] == [True, False]
        assert actions(memory) == ["one", "three"]
        (stays, _) = memory.tuples()
        assert (stays.version, stays.source) == (2, "home 9")
        assert len(other.find(1, "put", "see", state("b"), 9)) == 2
        assert [t.size for t in other.goal_types(1)] == [2]
        memory.add([make_tuple("b", "two")], REFINED, batch=1)
        for wrong, says in ((1, "already undone"), (9, "versions 1 to 3"), (0, "no version 0")):
            with pytest.raises(UsageError, match=says):
                memory.undo(wrong)
        other.close()

    def test_odd_texts_are_stored_alike(self, memory: Memory) -> None:
        """Characters that databases cannot store are replaced; types are one line of limited
        length.
        """
        odd = "a\0b \ud800 \n'; DROP TABLE x; -- \u2028 \U0001f35e $1 {x} %s"
        memory.add([make_tuple(odd, kinds=("  many \n  words " + "x" * 500, ""))], FORMED)
        (each,) = memory.tuples()
        assert each.observation == odd.replace("\0", "\ufffd").replace("\ud800", "\ufffd")
        assert each.goal_type.startswith("many words xxx")
        assert len(each.goal_type) == 200
        assert each.observation_type == "other"
        (found,) = memory.find(1, each.goal_type, "other", state("DROP"), 1)
        assert fields(found) == fields(each)
        with pytest.raises(UsageError, match="no source"):
            memory.add([make_tuple("x", source=" ")], FORMED)

    @pytest.mark.slow
    def test_several_writers_lose_nothing_and_add_nothing_twice(self, location: str) -> None:
        """Processes form the same memory at once."""
        open_memory(location, create=True).close()
        words = ("-W", "error", "-c", _FORMING, location)
        ran = [start_python(*words) for _ in range(self.processes)]
        printed = [each.communicate(timeout=120) for each in ran]
        assert [each.returncode for each in ran] == [0] * self.processes, printed
        with open_memory(location) as memory:
            sizes = Counter(each.batch for each in memory.tuples())
            assert sizes == {1: 8, 2: 8, 3: 8}
            numbers = [each.number for each in memory.versions()]
            assert numbers == list(range(1, len(numbers) + 1))
