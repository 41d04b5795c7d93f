"""Connecting to a store: files that are one, servers, and what their errors mean to a user."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Final

from sqlalchemy import Engine

from dqa.databases.store_locations import (
    StoreLocation,
    is_transient,
    open_store,
    translate_errors,
    write,
)
from dqa.evaluation.stores.places import StorePlace

__all__ = ["is_transient", "open_engine", "told", "write"]

_NAME_A_STORE: Final = "Name a store of 'dqa eval --out'."
_STAYS: Final = (
    "What was decided is kept there: once it answers, the same command goes on with the run."
)


def open_engine(place: StorePlace, *, writing: bool) -> Engine:
    """Open a store; a SQLite file that is to be written is made where it is missing.

    Raises
    ------
    UsageError
        There is no such file, or it may not be written.
    DataError
        The file is no SQLite database.
    MissingKeyError
        The database's driver is not installed.
    """
    return open_store(_location(place), writing=writing)


def told(place: StorePlace, *, under_way: bool = False) -> AbstractContextManager[None]:
    """Make what a database raises an error that says what a user can do about it.

    Parameters
    ----------
    place
        The store.
    under_way
        Whether a run is being written, which the same command goes on with.
    """
    return translate_errors(_location(place), under_way=under_way)


def _location(place: StorePlace) -> StoreLocation:
    return StoreLocation(place.url, place.file, "store", _NAME_A_STORE, _STAYS)
