"""What a kind of database is: it opens databases and loads situations into new ones."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

from dqa.core.database import Database, Kind
from dqa.core.situation import Situation

__all__ = [
    "Backend",
    "Examination",
    "Loaded",
    "place_name",
]


@dataclass(frozen=True, slots=True)
class Loaded:
    """A situation that a database holds.

    Attributes
    ----------
    place
        The schema, label or file that holds it and nothing else.
    scenario, name
        The situation's.
    content_hash
        `Situation.content_hash` of what was loaded.
    rows
        Rows of all its tables.
    """

    place: str
    scenario: str
    name: str
    content_hash: str
    rows: int


@dataclass(frozen=True, slots=True)
class Examination:
    """What a database says about itself and about who is connected.

    Attributes
    ----------
    version
        Product and version, e.g. ``"MariaDB 10.11.19"``.
    role
        Who is connected; empty where there are no users.
    may_write
        Whether that role could write, were it not for the guard and the read-only session.
    """

    version: str
    role: str = ""
    may_write: bool = False


class Backend(Protocol):
    """A kind of database (entry point `dqa.databases`): opens, and loads situations into new ones.

    Every situation lives in a place of its own inside the database: a schema, a label, or the whole
    of an embedded file. The place is named after scenario, situation and content hash (see
    `place_name`) and carries a tag with the hash, so a situation that is already there is
    recognised and reused, and several never mix.
    """

    name: str
    kind: Kind
    dialect: str
    embedded: bool
    """Whether it lives in this process, so that situations can be loaded into memory."""

    def accepts(self, location: str) -> bool:
        """Whether `location` (a URL or a path to an existing file) is one of this backend's."""
        ...

    def open(self, location: str) -> Database:
        """Open an existing database read-only."""
        ...

    def load(
        self, situation: Situation, location: str | None = None, replace: str | None = None
    ) -> Database:
        """Write a situation into a place of its own, all or nothing, and open that read-only.

        Parameters
        ----------
        situation
            What to write. Where the database holds it already, nothing is written.
        location
            Where to; None means in memory, for embedded databases.
        replace
            The place to drop first where it holds something else. Without it, or where it names
            another place, `UsageError` says what is in the way.
        """
        ...

    def loaded(self, location: str) -> tuple[Loaded, ...]:
        """List the situations that the database holds, by place."""
        ...

    def examine(self, location: str | None = None) -> Examination:
        """Connect and look: `DqaError` says what is wrong with the connection."""
        ...

    def unload(self, location: str, place: str) -> Loaded:
        """Drop a place and return what it held; `UsageError` where it holds no situation."""
        ...


def place_name(situation: Situation) -> str:
    """Return the name of a situation's place: ``dqa_locating_q1_0123456789ab``.

    Lower case letters, digits and underscores, at most 60 characters: a valid unquoted name in
    every database. The hash keeps situations of one name apart.
    """
    words = f"{situation.schema.scenario}_{situation.name}".lower()
    plain = re.sub(r"[^a-z0-9]+", "_", words).strip("_")[:_PLACE_WORDS]
    return f"dqa_{plain}_{situation.content_hash[:12]}"


_PLACE_WORDS = 43
