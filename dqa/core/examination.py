"""The role and the settings of a database, with advice for its owner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Advice:
    """Advice about a role, or about a setting of a server.

    Attributes
    ----------
    topic
        Its subject: the connected role, or a setting of the server.
    found
        The finding.
    why
        Its consequence.
    mend
        The fix: a statement, a line of configuration, or a sentence.
    """

    topic: Literal["role", "setting"]
    found: str
    why: str
    mend: str


@dataclass(frozen=True, slots=True)
class Examination:
    """The version, the role and the advice of a database.

    Attributes
    ----------
    version
        Product and version, e.g. ``"MariaDB 10.11.19"``.
    role
        The connected role; empty for databases without users.
    may_write
        Whether the role itself has the right to write.
    advice
        Advice about everything that the role may read.
    """

    version: str
    role: str = ""
    may_write: bool = False
    advice: tuple[Advice, ...] = ()
