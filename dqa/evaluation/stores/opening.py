"""Opening the store of a run that begins or goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from dqa.core.decision import Usage
from dqa.core.errors import UsageError
from dqa.core.files import require_room
from dqa.evaluation.folders import RunRecord
from dqa.evaluation.store import FolderStore, RunStore
from dqa.evaluation.stores.places import FolderPlace, RunPlace, StorePlace, is_same_database
from dqa.evaluation.stores.reading import open_reader


def require_place(place: RunPlace | None) -> None:
    """Raise `UsageError` where nothing can be kept at a place, before anything is asked.

    A server says so itself when it is connected to.
    """
    if isinstance(place, FolderPlace):
        require_room(place.path)
    elif place is not None:
        from dqa.evaluation.stores.runs import check_writable

        check_writable(place)


def refuse_asked(place: RunPlace | None, asked: Iterable[str]) -> None:
    """Raise `UsageError` where a store is a database that questions are about, or are loaded into.

    Its tables would be shown to models, and its runs be lost with the database.

    Parameters
    ----------
    place
        Where a run is to be kept.
    asked
        The locations of the databases.
    """
    if not isinstance(place, StorePlace):
        return
    for location in asked:
        if is_same_database(place, location):
            raise UsageError(
                f"{place.store} is a database that is asked, so no run can be kept in it: name "
                "another database, or a file of its own such as runs.db (--out)."
            )


def open_store(
    place: RunPlace | None, record: RunRecord, *, resume: bool = False, retry_failed: bool = False
) -> RunStore:
    """Open what keeps a run.

    Parameters
    ----------
    place
        Where; None for nowhere.
    record
        What is run.
    resume
        Whether to go on with a run that has to be there. A store goes on with its run anyway.
    retry_failed
        Whether a store asks again what a failing server or a bug ended, as it does where `resume`
        is set; a folder always does.

    Raises
    ------
    UsageError
        It cannot be kept there, or another run is.
    """
    if place is None:
        return RunStore()
    if isinstance(place, FolderPlace):
        return FolderStore(place.path, record, resume)
    from dqa.evaluation.stores.database import DatabaseStore

    return DatabaseStore(place, record, retry_failed=retry_failed or resume)


class UsedElsewhere:
    """What a run has used outside of this process: before, and meanwhile by others.

    Called, it returns that. A budget asks for it, and is made before the run's store is opened.

    Parameters
    ----------
    place
        Where the run is kept.
    resume
        Whether it goes on.
    """

    def __init__(self, place: RunPlace | None, *, resume: bool) -> None:
        self._place = place
        self._resume = resume
        self._played: Path | None = None
        before = open_reader(place).used() if resume and place is not None else Usage()
        self._used: Callable[[], Usage] = lambda: before

    def __call__(self) -> Usage:
        """Return what was used, as far as this process knows by now."""
        return self._used()

    def goes_on(self, cassette: Path | None) -> bool:
        """Whether a run goes on, whose cassette may be there already.

        The same command goes on with a run of a store: its cassette is one that a run there has.
        Which run that is, where nobody named it, is not known before its questions are read:
        `require_own_cassette` looks then.
        """
        if self._resume or not isinstance(self._place, StorePlace):
            return self._resume
        if cassette is None or not cassette.exists():
            return True
        from dqa.evaluation.stores.runs import has_cassette

        self._played = cassette
        return has_cassette(self._place, cassette)

    def require_own_cassette(self, record: RunRecord) -> None:
        """Refuse to go on with the cassette of another run of the same store.

        Parameters
        ----------
        record
            What is run; an unnamed run of a store has its name by that.

        Raises
        ------
        UsageError
            The cassette was there before, and this run did not record it.
        """
        cassette, place = self._played, self._place
        if cassette is None or not isinstance(place, StorePlace) or place.name is not None:
            return
        from dqa.evaluation.stores.runs import has_cassette, name_of

        if not has_cassette(place.named(name_of(record)), cassette):
            raise UsageError(
                f"--record {cassette} holds the replies of another run in {place.store}: name a "
                "new file."
            )

    def follow(self, store: RunStore) -> None:
        """Ask a store from now on that several processes write."""
        if isinstance(self._place, StorePlace):
            self._used = lambda: store.used_elsewhere
