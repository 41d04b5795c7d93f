"""What was done before a pause, kept so that it is not done again when the work goes on.

A graph that waits for a person runs what came before anew when it goes on, perhaps in another
process. Deciders are deterministic but for what models, databases and people say. So that is
written down as it comes, and given again to whoever asks the same: nobody is asked twice.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any


class Journal:
    """What was asked and what came back. Safe to use from several threads.

    What is asked twice in the same words comes back twice, in its order. What comes back is JSON,
    and so is the journal: `lines` of one make another.

    Parameters
    ----------
    lines
        What an earlier journal held.
    """

    def __init__(self, lines: Iterable[str] = ()) -> None:
        self._lines: list[str] = []
        self._known: defaultdict[str, list[str]] = defaultdict(list)
        for line in lines:
            self._keep(*json.loads(line))
        self._given: Counter[str] = Counter()
        self._lock = threading.Lock()

    @property
    def lines(self) -> tuple[str, ...]:
        """What it holds, one JSON text for each thing that was asked."""
        return tuple(self._lines)

    def once(self, what: str, asked: object, act: Callable[[], Any]) -> Any:  # noqa: ANN401  (JSON)
        """Return what came back when this was asked before; else act, and keep what comes back.

        Parameters
        ----------
        what
            What kind of thing is asked.
        asked
            In which words, as JSON values.
        act
            Asks for it, and returns JSON values. What it raises is not kept.
        """
        key = _key(what, asked)
        with self._lock:
            place = self._given[key]
            known = self._known[key][place : place + 1]
            self._given[key] += len(known)
        if known:
            return json.loads(known[0])
        came = json.dumps(act(), default=str)
        with self._lock:
            self._keep(key, came)
            self._given[key] += 1
        return json.loads(came)

    def keep(self, what: str, asked: object, came: object) -> None:
        """Keep what came back to something that is asked next."""
        with self._lock:
            self._keep(_key(what, asked), json.dumps(came))

    def _keep(self, key: str, came: str) -> None:
        self._known[key].append(came)
        self._lines.append(json.dumps([key, came]))


def _key(what: str, asked: object) -> str:
    words = json.dumps([what, asked], sort_keys=True, default=str)
    return hashlib.sha256(words.encode()).hexdigest()


_journal: ContextVar[Journal | None] = ContextVar("dqa_journal", default=None)


def current_journal() -> Journal | None:
    """Return the journal that is kept in this context; None where none is."""
    return _journal.get()


@contextmanager
def kept_in(journal: Journal) -> Iterator[None]:
    """Keep in a journal what is asked for in this context."""
    token = _journal.set(journal)
    try:
        yield
    finally:
        _journal.reset(token)


def remembered(what: str, asked: object, act: Callable[[], Any]) -> Any:  # noqa: ANN401  (JSON)
    """Return what came back before, where a journal is kept; else act. See `Journal.once`."""
    journal = current_journal()
    return act() if journal is None else journal.once(what, asked, act)
