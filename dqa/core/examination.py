"""What a database says of itself, and what its owner could do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Advice:
    """Something about a role or a server's settings that its owner could mend.

    Attributes
    ----------
    topic
        Whether it is about who is connected, or about a setting of the server.
    found
        What was found.
    why
        What that makes possible.
    mend
        The statement or the line of configuration that mends it, or what else to do.
    """

    topic: Literal["role", "setting"]
    found: str
    why: str
    mend: str


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
    advice
        What its owner could mend; what the role may not look at is not among it.
    """

    version: str
    role: str = ""
    may_write: bool = False
    advice: tuple[Advice, ...] = ()
