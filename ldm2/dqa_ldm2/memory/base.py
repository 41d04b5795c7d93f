"""What a memory holds and does, whatever database it is kept in (LDM2, section 3.2).

A memory has *batches*, each made from B trajectories and independent of the others. In a batch
every goal has a goal type, and within this every tuple an observation type: the two indices, whose
types a model names. Every addition is a *version*, which says where it comes from and can be
undone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Literal, Self, TypeAlias

from dqa.core.evidence import Evidence


@dataclass(frozen=True, slots=True)
class StateAction:
    """A standard state-action tuple (equation 1).

    Attributes
    ----------
    goal
        What was to be reached.
    history
        What had happened before, as a model summarised it (equation 6).
    observation
        What was seen.
    action
        What was done then.
    source
        Whose step it is: the `dqa.core.trajectories.Trajectory.source`.
    number
        Which step of that, from 1.
    reward
        What the trajectory brought in the end; None where nobody knows.
    """

    goal: str
    history: str
    observation: str
    action: str
    source: str
    number: int
    reward: float | None = None


@dataclass(frozen=True, slots=True)
class Placed:
    """A tuple with its place in a batch's two indices."""

    content: StateAction
    goal_type: str
    observation_type: str


@dataclass(frozen=True, slots=True)
class Remembered:
    """A tuple as a memory holds it.

    Attributes
    ----------
    id
        Unique in its memory, and never used again.
    batch, version
        Where it belongs, and with which addition it came.
    placed
        The tuple and its place.
    likeness
        How like it is to what was asked for; larger is more, and 0 where nothing was asked for.
    """

    id: int
    batch: int
    version: int
    placed: Placed
    likeness: float = 0.0


@dataclass(frozen=True, slots=True)
class MemoryType:
    """A goal type or an observation type: its name, how many tuples it has, and some examples."""

    name: str
    size: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Recall:
    """What was retrieved, and the statements that read it.

    Attributes
    ----------
    found
        The tuples that are most like what was asked for, the most like first.
    evidence
        How they were read by the guarded query layer, for the trace; in the order of ids.
    """

    found: tuple[Remembered, ...] = ()
    evidence: tuple[Evidence, ...] = ()


Making: TypeAlias = Literal["formation", "refinement", "import"]
"""How an addition came about."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an addition comes from.

    Attributes
    ----------
    making
        Formed from trajectories, refined by exploring, or imported.
    source
        In words: which world and seeds, which run, which file.
    model
        What answered behind it; empty for none.
    """

    making: Making
    source: str
    model: str = ""


@dataclass(frozen=True, slots=True)
class Version:
    """An addition.

    Attributes
    ----------
    number
        From 1, without a gap.
    origin
        Where it comes from.
    added
        How many tuples it added.
    batches
        To which batches it was added, whether these had its tuples already or not.
    is_undone
        Whether it was taken back.
    """

    number: int
    origin: Origin
    added: int
    batches: tuple[int, ...]
    is_undone: bool = False


@dataclass(frozen=True, slots=True)
class Difference:
    """What one state of a memory has and another has not."""

    added: tuple[Remembered, ...] = ()
    removed: tuple[Remembered, ...] = ()


@dataclass(frozen=True, slots=True)
class State:
    """What retrieval is asked for: where an agent is now."""

    goal: str
    history: str
    observation: str
    excluded: frozenset[str] = field(default_factory=frozenset)
    """Sources whose tuples must not be found, above all the very episode or question asked."""


class Memory(ABC):
    """State-action tuples in a database. Safe to use from several threads and processes.

    Attributes
    ----------
    location
        Where it is, without a password.
    """

    location: str

    @abstractmethod
    def batches(self) -> tuple[int, ...]:
        """Return the numbers of the batches, in order."""

    @abstractmethod
    def goal_types(
        self, batch: int, excluded: Collection[str] = frozenset()
    ) -> tuple[MemoryType, ...]:
        """Return the goal index of a batch, in the order in which its types were named.

        Parameters
        ----------
        batch
            Which.
        excluded
            Sources that are neither counted nor shown as examples; see `State.excluded`.

        Raises
        ------
        UsageError
            There is no such batch.
        """

    @abstractmethod
    def observation_types(
        self, batch: int, goal_type: str, excluded: Collection[str] = frozenset()
    ) -> tuple[MemoryType, ...]:
        """Return the observation index of a goal type, as `goal_types` does that of goals."""

    def find(
        self, batch: int, goal_type: str, observation_type: str, state: State, most: int
    ) -> tuple[Remembered, ...]:
        """Return the tuples of a place that are most like a state; see `recall`."""
        return self.recall(batch, goal_type, observation_type, state, most).found

    @abstractmethod
    def recall(
        self, batch: int, goal_type: str, observation_type: str, state: State, most: int
    ) -> Recall:
        """Return the tuples of a place that are most like a state, and how they were read.

        Ties are in the order of their ids. A place with none that may be found falls back to its
        goal type, then to the whole batch, so that something is found where anything is there.

        Raises
        ------
        UsageError
            There is no such batch, or fewer than one tuple is asked for.
        DatabaseUnavailableError
            The server cannot be reached.
        """

    @abstractmethod
    def search(
        self, words: str, most: int, excluded: Collection[str] = frozenset()
    ) -> tuple[Remembered, ...]:
        """Return the tuples of all batches that are most like some words, but those of sources."""

    @abstractmethod
    def add(self, tuples: Sequence[Placed], origin: Origin, batch: int | None = None) -> Version:
        """Add tuples in one transaction: to a batch, or as a new one.

        A tuple that the batch has already (the same state and action) is not added again. Of a
        formation, neither is a new batch's tuple whose source another batch was formed from, so
        that two processes which form one memory at once add everything once. A new batch to which
        nothing would be added is not made.

        Raises
        ------
        UsageError
            There is no such batch, or the memory may only be read.
        DatabaseUnavailableError
            The server cannot be reached; nothing was added, unless it went away in the very moment
            in which it kept the addition, which `versions` tells.
        """

    @abstractmethod
    def add_batches(self, batches: Sequence[Sequence[Placed]], origin: Origin) -> Version:
        """Add each of several sequences as a new batch, all in one transaction and one version."""

    @abstractmethod
    def versions(self) -> tuple[Version, ...]:
        """Return every addition, in order."""

    @abstractmethod
    def undo(self, version: int) -> Version:
        """Take an addition back: its tuples are found no more, and the version says so.

        A tuple that a later addition brought as well stays, as that one's.

        Raises
        ------
        UsageError
            There is no such version, or it was undone already.
        """

    @abstractmethod
    def tuples(
        self, *, version: int | None = None, sources: Collection[str] | None = None
    ) -> Iterable[Remembered]:
        """Return every tuple in the order of ids: of the state after a version, of sources.

        The state after a version is what could be found before the next addition: what was undone
        later belongs to it. Without a version it is what can be found now.

        Raises
        ------
        UsageError
            There is no such version.
        """

    @abstractmethod
    def sources(self, making: Making | None = None) -> frozenset[str]:
        """Return whose steps it holds, or those that came about in one way."""

    @abstractmethod
    def sources_of_goal(self, words: str) -> frozenset[str]:
        """Return whose steps have a goal in these words, which are as `fold` makes them."""

    @abstractmethod
    def diff(self, before: int, after: int) -> Difference:
        """Return what differs between the states after two versions; version 0 is empty.

        Raises
        ------
        UsageError
            There is no such version.
        """

    @abstractmethod
    def close(self) -> None:
        """Release what it holds."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
