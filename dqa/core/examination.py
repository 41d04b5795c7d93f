"""The results of examining a database's role and settings, with advice for its owner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Advice:
    """Advice about a database role or a server setting.

    Attributes
    ----------
    topic
        The subject: the connected role, or a server setting.
    found
        The problem that was found.
    why
        The consequence of the problem.
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
        Whether the role has permission to write.
    advice
        The advice about the role and the server.
    """

    version: str
    role: str = ""
    may_write: bool = False
    advice: tuple[Advice, ...] = ()
