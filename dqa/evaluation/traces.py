"""Reading back the traces of a run: what every decider did, step by step.

What the events of a trace mean is described in ``schemas/exchange/trace.schema.json``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from dqa import plugins
from dqa.core.database import Kind
from dqa.core.decision import Ending, Usage
from dqa.core.errors import ParseError, UsageError
from dqa.core.events import Event, event_from_json
from dqa.core.evidence import Evidence
from dqa.core.question import Candidate
from dqa.evaluation.store import TRACES, whole_lines

__all__ = ["Trace", "read_traces"]


@dataclass(frozen=True, slots=True)
class Trace:
    """One line of ``traces.jsonl``: a decision with everything that led to it.

    Attributes
    ----------
    question, database, kind, decider, model
        Who was asked what, and on which database.
    ending, answer, choice, steps, seconds, usage, error, outage, plans, evidence
        As in `dqa.core.decision.Decision`.
    events
        Everything that happened, in order.
    """

    question: str
    database: str
    kind: Kind
    decider: str
    model: str
    ending: Ending
    answer: str
    choice: Candidate | None
    steps: int
    seconds: float
    usage: Usage
    error: str | None
    outage: Literal["database", "model"] | None
    plans: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    events: tuple[Event, ...]

    @property
    def key(self) -> tuple[str, str, str]:
        """Question, database and decider: unique in a run."""
        return self.question, self.database, self.decider

    @classmethod
    def from_json(cls, line: Mapping[str, Any]) -> Trace:
        """Read a line's object; `KeyError`, `TypeError` or `ValueError` where it is none."""
        same = ("question", "database", "kind", "decider", "model", "answer", "choice")
        more = ("steps", "seconds", "error", "outage")
        return cls(
            **{name: line[name] for name in same + more},
            ending=Ending(line["ending"]),
            usage=Usage(**line["usage"]),
            plans=tuple(line["plans"]),
            evidence=tuple(Evidence(**evidence) for evidence in line["evidence"]),
            events=tuple(event_from_json(event, plugins.events()) for event in line["trace"]),
        )


def read_traces(folder: Path) -> list[Trace]:
    """Read a run's traces, in the order of the first try; of a decision made twice the last counts.

    Parameters
    ----------
    folder
        The run's ``--out``.

    Raises
    ------
    UsageError
        The folder holds no run.
    ParseError
        A whole line is no trace.
    """
    path = folder / TRACES
    if not path.is_file():
        raise UsageError(f"{folder} holds no run: there is no {TRACES}. Name the --out of one.")
    found: dict[tuple[str, str, str], Trace] = {}
    # Not splitlines(): other line separators may stand inside a JSON string.
    for number, line in enumerate(whole_lines(path).split("\n")[:-1], start=1):
        try:
            trace = Trace.from_json(json.loads(line))
        except (KeyError, TypeError, ValueError) as error:
            raise ParseError(path, number, f"no trace of this version: {error!r}") from error
        found[trace.key] = trace
    return list(found.values())
