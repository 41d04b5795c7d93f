"""What every memory does, in whatever database: the tests that all of them pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import pytest

from dqa.core.errors import UnparsableReplyError, UsageError
from dqa.core.trajectories import Step, Trajectory
from dqa.deciders.prompting import fold
from dqa_ldm2 import (
    Memory,
    Origin,
    Placed,
    RuleIndexer,
    State,
    StateAction,
    export_memory,
    form_memory,
    import_memory,
    open_memory,
)
from dqa_ldm2.memory.retrieving import RetrievingMemory
from tests.programs import start_python

FORMED = Origin("formation", "a test")
REFINED = Origin("refinement", "exploring", "a model")
DESKS = ("you see desk 1", "you see desk 2 and a lamp", "you see drawer 3")


def placed(
    observation: str,
    action: str = "go on",
    *,
    source: str = "home 1",
    goal: str = "put a mug in the desk",
    kinds: tuple[str, str] = ("put", "see"),
) -> Placed:
    """Return a tuple with its place."""
    return Placed(StateAction(goal, "nothing yet", observation, action, source, 1, 0.5), *kinds)


def state(observation: str, *excluded: str) -> State:
    """Return what is asked for."""
    return State("put a mug in the desk", "", observation, frozenset(excluded))


def actions(memory: Memory) -> list[str]:
    """Return what a memory's tuples do, in the order of ids."""
    return [each.placed.content.action for each in memory.tuples()]


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


_FORMING = """
import sys
import dqa_ldm2
from dqa.core.trajectories import Step, Trajectory
from dqa.deciders.prompting import fold

steps = (Step("On the desk", "go"), Step("On the chair", "sit"))
made = [Trajectory(f"put thing {n}", steps, f"home {n}") for n in range(12)]
with dqa_ldm2.open_memory(sys.argv[1]) as memory:
    dqa_ldm2.form_memory(memory, made, dqa_ldm2.RuleIndexer(), source="all", batch_size=4)
"""
"""What several processes run at once."""


class MemoryContract:
    """Tests of a memory; subclasses have a fixture `location` of where an empty one can be."""

    processes: ClassVar[int] = 2

    @pytest.fixture
    def memory(self, location: str) -> Iterator[Memory]:
        """Return a memory without anything in it."""
        with open_memory(location, create=True) as memory:
            yield memory

    def test_what_is_added_is_found_in_its_place(self, memory: Memory, location: str) -> None:
        """The most like first, exactly as it was given, and by whoever opens it later."""
        given = [placed(text, f"act {n}") for n, text in enumerate(DESKS)]
        other = placed("a shelf", "reach", goal="heat it \u2603 'now'", kinds=("heat", "shelf"))
        version = memory.add([*given, other], FORMED)
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
            assert [each.placed for each in found] == [given[1], given[0]]
            assert found[0].likeness > found[1].likeness > 0
            (only,) = again.find(1, "heat", "shelf", state("a lamp on desk 2"), 2)
            assert only.placed == other

    def test_a_place_without_tuples_falls_back(self, memory: Memory) -> None:
        """To its goal type, then to the batch, but to no other batch."""
        memory.add([placed("red", kinds=("a", "b")), placed("blue", kinds=("c", "d"))], FORMED)
        memory.add([placed("green", source="home 2")], FORMED)
        for place, seen in {("a", "none"): ["red"], ("none", "b"): ["red", "blue"]}.items():
            found = memory.find(1, *place, state("grey"), 9)
            assert [each.placed.content.observation for each in found] == seen
        with pytest.raises(UsageError, match=r"no batch 7\. There are: 1, 2\."):
            memory.find(7, "a", "b", state("red"), 1)
        with pytest.raises(UsageError, match="at least one"):
            memory.find(1, "a", "b", state("red"), 0)

    def test_an_excluded_source_never_comes_back(self, memory: Memory) -> None:
        """Not by likeness, nor by falling back, nor by search, nor as an example of a type."""
        planted = placed("the very question", "THE ANSWER", source="asked now", goal="the goal")
        memory.add([planted, placed("something else", "try")], FORMED)
        asked = State("the goal", "", "the very question", frozenset({"asked now"}))
        for place in (("put", "see"), ("put", "none"), ("none", "none")):
            recall = memory.recall(1, *place, asked, 5)
            assert [each.placed.content.action for each in recall.found] == ["try"]
            assert not any("ANSWER" in each.observation for each in recall.evidence)
        assert not memory.search("THE ANSWER the very question", 5, excluded=asked.excluded)[1:]
        for types in (
            memory.goal_types(1, asked.excluded),
            memory.observation_types(1, "put", asked.excluded),
        ):
            (kind,) = types
            assert kind.size == 1
            assert "question" not in str(types)
            assert "the goal" not in str(types)

    def test_nothing_is_there_twice(self, memory: Memory) -> None:
        """Of a batch; another batch has its own, and each version says what it added."""
        first = memory.add([placed("a"), placed("b"), placed("a", source="home 2")], FORMED)
        again = memory.add([placed("a", source="home 3"), placed("c")], REFINED, batch=1)
        new = memory.add([placed("a", source="home 4")], FORMED)
        assert [each.added for each in (first, again, new)] == [2, 1, 1]
        assert [each.batches for each in memory.versions()] == [(1,), (1,), (2,)]
        assert memory.sources() == {f"home {n}" for n in (1, 2, 3, 4)}
        assert memory.sources("refinement") == {"home 3", "home 1"}
        with pytest.raises(UsageError, match="no batch 9"):
            memory.add([placed("d")], REFINED, batch=9)
        assert len(memory.versions()) == 3
        assert memory.add([placed("z", source="home 1")], FORMED).batches == ()

    def test_an_addition_is_undone(self, memory: Memory, location: str) -> None:
        """What a later one brought as well stays; another process that looked before sees it."""
        other = open_memory(location)
        memory.add([placed("a", "one"), placed("b", "two")], FORMED)
        memory.add([placed("a", "one", source="home 9"), placed("c", "three")], REFINED, batch=1)
        assert len(other.find(1, "put", "see", state("b"), 9)) == 3
        undone = memory.undo(1)
        assert undone.is_undone
        assert [each.is_undone for each in memory.versions()] == [True, False]
        assert actions(memory) == ["three", "one"]
        (_, kept) = memory.tuples()
        assert (kept.id, kept.version, kept.placed.content.source) == (4, 2, "home 9")
        assert len(other.find(1, "put", "see", state("b"), 9)) == 2
        assert [t.size for t in other.goal_types(1)] == [2]
        assert memory.add([placed("b", "two")], REFINED, batch=1).added == 1
        assert max(each.id for each in memory.tuples()) == 5
        for wrong, says in ((1, "undone already"), (9, "versions 1 to 3"), (0, "no version 0")):
            with pytest.raises(UsageError, match=says):
                memory.undo(wrong)
        other.close()

    def test_whose_goals_have_the_same_words_is_known(
        self, memory: Memory, location: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """However they are written, also what another adds or undoes; no word index is made."""
        monkeypatch.setattr(RetrievingMemory, "_index", None)
        asked = "which  shop is\tBest?"
        one = placed("a", source="one", goal="Which shop is best?")
        memory.add([one, placed("b", source="One", goal="WHICH SHOP is best?")], FORMED)
        memory.add([placed("a", source="two", goal="Which shop is best? Say it.")], FORMED)
        assert memory.sources_of_goal(fold(asked)) == {"one", "One"}
        assert memory.sources_of_goal(fold("Which shop?")) == frozenset()
        with open_memory(location) as other:
            added = other.add([placed("c", source="three", goal=asked)], REFINED, batch=1)
            assert memory.sources_of_goal(fold(asked)) == {"one", "One", "three"}
            other.undo(added.number)
        assert memory.sources_of_goal(fold(asked)) == {"one", "One"}

    def test_odd_texts_are_kept_alike(self, memory: Memory) -> None:
        """What databases cannot keep is replaced; types have one line and an end."""
        odd = "a\0b \ud800 \n'; DROP TABLE x; -- \u2028 \U0001f35e $1 {x} %s"
        memory.add([placed(odd, kinds=("  many \n  words " + "x" * 500, ""))], FORMED)
        (each,) = memory.tuples()
        expected = odd.replace("\0", "\ufffd").replace("\ud800", "\ufffd")
        assert each.placed.content.observation == expected
        assert each.placed.goal_type.startswith("many words xxx")
        assert len(each.placed.goal_type) == 200
        assert each.placed.observation_type == "other"
        (found,) = memory.find(1, each.placed.goal_type, "other", state("DROP"), 1)
        assert found.placed == each.placed
        for wrong in (placed("x", source=" "),):
            with pytest.raises(UsageError, match="no source"):
                memory.add([wrong], FORMED)

    @pytest.mark.slow
    def test_several_writers_lose_nothing_and_add_nothing_twice(self, location: str) -> None:
        """Processes form the same memory at once."""
        open_memory(location, create=True).close()
        words = ("-W", "error", "-c", _FORMING, location)
        ran = [start_python(*words) for _ in range(self.processes)]
        printed = [each.communicate(timeout=120) for each in ran]
        assert [each.returncode for each in ran] == [0] * self.processes, printed
        with open_memory(location) as memory:
            assert len(list(memory.tuples())) == 24
            assert [len(list(each)) for each in _by_batch(memory)] == [8, 8, 8]
            numbers = [each.number for each in memory.versions()]
            assert numbers == list(range(1, len(numbers) + 1))

    def test_an_interrupted_build_goes_on(self, memory: Memory) -> None:
        """Whole batches are kept, the same call adds the rest, and the memory is the same."""

        class Tired(RuleIndexer):
            def summarise(self, goal: str, steps_before: Sequence[Step]) -> str:
                if goal.endswith(" 5"):
                    raise UnparsableReplyError("no more")
                return super().summarise(goal, steps_before)

        made = trajectories(7)
        with pytest.raises(UnparsableReplyError):
            form_memory(memory, made, Tired(), source="all", batch_size=2)
        assert memory.batches() == (1, 2)
        report = form_memory(memory, made, RuleIndexer(), source="all", batch_size=2, workers=3)
        assert (report.there, report.trajectories, report.batches) == (4, 3, (3, 4))
        assert memory.sources() == {each.source for each in made}
        assert len(list(memory.tuples())) == 14

    def test_it_is_exported_and_imported(
        self, memory: Memory, location: str, tmp_path: object
    ) -> None:
        """As it was, with a version of its own; the same file is not imported twice."""
        form_memory(memory, trajectories(5), RuleIndexer(), source="all", batch_size=2)
        file = f"{tmp_path}/memory.jsonl"
        assert export_memory(memory, file) == 10
        with open_memory(f"{tmp_path}/other.db", create=True) as other:
            version = import_memory(other, file)
            assert (version.added, version.batches) == (10, (1, 2, 3))
            assert version.origin.making == "import"
            assert [e.placed for e in other.tuples()] == [e.placed for e in memory.tuples()]
            with pytest.raises(UsageError, match="already, as version 1"):
                import_memory(other, file)
            other.undo(1)
            assert import_memory(other, file).batches == (4, 5, 6)
        again = import_memory(memory, file)
        assert again.batches == (4, 5, 6)


def _by_batch(memory: Memory) -> list[list[int]]:
    held: dict[int, list[int]] = {}
    for each in memory.tuples():
        held.setdefault(each.batch, []).append(each.id)
    return [held[batch] for batch in sorted(held)]
