"""What an agent acts with: the database, and for some the scenario's simulator."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from dqa.core.database import Database, Limits
from dqa.core.errors import UnparsableReplyError
from dqa.core.evidence import COMPARE, QUERY, SIMULATE, SIMULATING, Evidence
from dqa.deciders.simulation import Simulation
from dqa.deciders.tools import observe
from dqa_planrag.reply import Call

__all__ = ["QUERY", "SIMULATING", "Toolbox"]

_SEPARATED = re.compile(r"[,;\n]")


@dataclass(frozen=True, slots=True)
class Toolbox:
    """The tools of one run.

    Attributes
    ----------
    database
        What statements run on.
    limits
        What each call may cost.
    simulation
        Runs the rules on the database's own rows; None for an agent that may not.
    """

    database: Database
    limits: Limits
    simulation: Simulation | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """What the tools are called."""
        return (QUERY,) if self.simulation is None else (QUERY, *SIMULATING)

    def use(self, call: Call) -> Evidence:
        """Carry a call out.

        Raises
        ------
        UnparsableReplyError
            There is no such tool; the message names those there are.
        InfrastructureError
            The database failed.
        """
        if call.tool == QUERY:
            return observe(self.database, _text(call), self.limits)
        if self.simulation is not None and call.tool == SIMULATE:
            return self.simulation.simulate(_text(call), self.limits)
        if self.simulation is not None and call.tool == COMPARE:
            return self.simulation.compare(_listed(call), self.limits)
        raise UnparsableReplyError(
            f"There is no tool '{call.tool}'. The tools are: {', '.join(self.names)}."
        )


def _text(call: Call) -> str:
    return call.given if isinstance(call.given, str) else ", ".join(call.given)


def _listed(call: Call) -> tuple[str, ...]:
    """Return the candidates that a call names, none for all of them."""
    given = _from_text(call.given) if isinstance(call.given, str) else call.given
    return tuple(name for name in given if name.strip())


def _from_text(text: str) -> tuple[str, ...]:
    """Read a JSON list, or names between commas, semicolons or line ends."""
    if text.strip().startswith("["):
        try:
            return tuple(str(name) for name in json.loads(text))
        except (ValueError, RecursionError):
            text = text.strip().strip("[]")
    return tuple(part.strip(" \"'`-*") for part in _SEPARATED.split(text))
