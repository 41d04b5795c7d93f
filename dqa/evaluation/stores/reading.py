"""Reading a run back, wherever it is kept: a folder's lines, or a store's rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from dqa.core.decision import Usage
from dqa.core.errors import UsageError
from dqa.core.files import require_folder
from dqa.evaluation import folder_lines, folders
from dqa.evaluation.folders import RUN, TRACES, AnySpec, RunRecord
from dqa.evaluation.keys import DecisionKey
from dqa.evaluation.prompts import Prompts
from dqa.evaluation.results import Result
from dqa.evaluation.shortcuts import ShortcutChoices
from dqa.evaluation.stores.places import FolderPlace, RunPlace, StorePlace
from dqa.evaluation.traces import Trace

if TYPE_CHECKING:
    from dqa.evaluation.stores.runs import StoredRow


class RunReader(Protocol):
    """What can be read of a run."""

    @property
    def place(self) -> RunPlace:
        """Where it is kept; of a store with the run's name."""

    def record(self) -> RunRecord:
        """Return what was run."""

    def resumable(self) -> tuple[RunRecord, AnySpec]:
        """Return what was run, and the spec by which it can go on."""

    def results(self) -> Sequence[Result]:
        """Return the results, in the order of the plan as far as that is known."""

    def traces(self, question: str | None = None) -> Iterator[Trace]:
        """Yield the traces, one at a time, or those of one question."""

    def seconds(self) -> Mapping[DecisionKey, float]:
        """Return how long each decision took."""

    def shortcuts(self) -> tuple[ShortcutChoices, ...]:
        """Return what the heuristics chose."""

    def prompts(self) -> Prompts:
        """Return the prompts of each decider."""

    def used(self) -> Usage:
        """Return what all decisions have used, those that were made again included."""

    def abandoned(self, *, recorded: bool = False) -> Usage:
        """Return what was used and led to no decision; see `folder_lines.usage_abandoned`."""

    def abandoned_lines(self) -> Iterator[Mapping[str, Any]]:
        """Yield the lines that say what was used and led to no decision."""


@dataclass(frozen=True, slots=True)
class FolderReader:
    """Reads a run's folder."""

    place: FolderPlace

    def __post_init__(self) -> None:
        folder = self.place.path
        hint = "Name the folder of 'dqa eval --out', or the file of 'dqa ask --trace'."
        require_folder(folder, hint)

    def record(self) -> RunRecord:
        """Return what was run; nothing of a folder that does not say."""
        folder = self.place.path
        if not (folder / RUN).exists():
            return RunRecord(spec=None)
        return folders.read_record(folder)

    def resumable(self) -> tuple[RunRecord, AnySpec]:
        """Return what was run, and the spec by which it can go on."""
        return folders.read_resumable(self.place.path)

    def results(self) -> Sequence[Result]:
        """Return the results, in the order of the file."""
        if not (self.place.path / TRACES).is_file():
            raise UsageError(
                f"{self.place} holds no run: there is no {TRACES}. Name the folder of "
                "one ('dqa runs' lists them)."
            )
        return folder_lines.read_results(self.place.path)

    def traces(self, question: str | None = None) -> Iterator[Trace]:
        """Yield the traces in the order of the file."""
        yield from folder_lines.read_traces(self.place.path, question)

    def seconds(self) -> Mapping[DecisionKey, float]:
        """Return how long each decision took, by the traces."""
        return {trace.key: trace.seconds for trace in self.traces()}

    def shortcuts(self) -> tuple[ShortcutChoices, ...]:
        """Return what the heuristics chose."""
        return folder_lines.read_shortcuts(self.place.path)

    def prompts(self) -> Prompts:
        """Return the prompts of each decider; none of an older run."""
        return folder_lines.read_prompts(self.place.path)

    def used(self) -> Usage:
        """Return what all decisions have used, those that were made again included."""
        return folder_lines.usage_so_far(self.place.path)

    def abandoned(self, *, recorded: bool = False) -> Usage:
        """Return what was used and led to no decision."""
        return folder_lines.usage_abandoned(self.place.path, recorded=recorded)

    def abandoned_lines(self) -> Iterator[Mapping[str, Any]]:
        """Yield the lines that say what was used and led to no decision."""
        return folder_lines.read_abandoned(self.place.path)


class StoreReader:
    """Reads a run of a store; nothing stays open in between.

    Parameters
    ----------
    place
        The store, and the run's name where it holds several.

    Raises
    ------
    UsageError
        There is no such store, it holds several runs and none is named, or it is of a newer
        version.
    UnknownNameError
        It holds no run of that name.
    """

    def __init__(self, place: StorePlace) -> None:
        from dqa.evaluation.stores import runs

        self._runs = runs
        with runs.reading(place) as connection:
            self._row: StoredRow = runs.find_run(connection, place)
        self.place: StorePlace = place.named(self._row.name)

    @contextmanager
    def _reading(self) -> Iterator[Any]:
        with self._runs.reading(self.place) as connection:
            yield connection

    def record(self) -> RunRecord:
        """Return what was run."""
        return self._row.record

    def resumable(self) -> tuple[RunRecord, AnySpec]:
        """Return what was run, and the spec by which it can go on."""
        return folders.require_resumable(self._row.record, self._row.spec_version, str(self.place))

    def results(self) -> Sequence[Result]:
        """Return the results, in the order of the plan."""
        with self._reading() as connection:
            return list(self._runs.read_results(connection, self._row.id).values())

    def traces(self, question: str | None = None) -> Iterator[Trace]:
        """Yield the traces in the order of the plan."""
        with self._reading() as connection:
            yield from self._runs.read_traces(connection, self._row.id, question, self.place)

    def seconds(self) -> Mapping[DecisionKey, float]:
        """Return how long each decision took."""
        with self._reading() as connection:
            return self._runs.read_seconds(connection, self._row.id)

    def shortcuts(self) -> tuple[ShortcutChoices, ...]:
        """Return what the heuristics chose."""
        with self._reading() as connection:
            return self._runs.read_shortcuts(connection, self._row.id)

    def prompts(self) -> Prompts:
        """Return the prompts of each decider."""
        with self._reading() as connection:
            return self._runs.read_prompts(connection, self._row.id)

    def used(self) -> Usage:
        """Return what all decisions have used, those that were made again included."""
        with self._reading() as connection:
            return self._runs.usage_so_far(connection, self._row.id)

    def abandoned(self, *, recorded: bool = False) -> Usage:
        """Return what was used and led to no decision."""
        with self._reading() as connection:
            return self._runs.usage_abandoned(connection, self._row.id, recorded=recorded)

    def abandoned_lines(self) -> Iterator[Mapping[str, Any]]:
        """Yield the lines that say what was used and led to no decision."""
        with self._reading() as connection:
            yield from self._runs.read_abandoned(connection, self._row.id)


def open_reader(place: RunPlace) -> RunReader:
    """Return what reads a run.

    Raises
    ------
    UsageError
        There is none.
    """
    return FolderReader(place) if isinstance(place, FolderPlace) else StoreReader(place)
