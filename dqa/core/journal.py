"""Record replies before a pause and replay them when the work resumes.

A LangGraph graph that waits for a person starts again from the beginning when it resumes, possibly
in another process. Deciders are deterministic, so only the replies of models, databases and
people could differ the second time. A journal records these replies and returns them for the same
requests, so nothing is requested twice.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from dqa.core.context import ContextValue


class Journal:
    """Recorded requests and replies, as JSON. Safe to use from several threads.

    Equal requests receive their replies in the recorded order.

    Parameters
    ----------
    lines
        The lines of an earlier journal.

    Attributes
    ----------
    lines
        One JSON text per request and reply.
    """

    def __init__(self, lines: Iterable[str] = ()) -> None:
        self.lines = list(lines)
        self._replies: defaultdict[str, list[str]] = defaultdict(list)
        for request, reply in map(json.loads, self.lines):
            self._replies[request].append(reply)
        self._used: Counter[str] = Counter()
        self._lock = threading.Lock()

    def replay(self, kind: str, content: object, act: Callable[[], Any]) -> Any:  # noqa: ANN401  (JSON)
        """Return the recorded reply to a request. If there is none, record the reply of `act`.

        Parameters
        ----------
        kind, content
            The kind and the content of the request. Requests are equal if both are equal.
        act
            Returns the reply. Exceptions are not recorded.
        """
        request = _request(kind, content)
        with self._lock:
            number = self._used[request]
            if number < len(self._replies[request]):
                self._used[request] += 1
                return json.loads(self._replies[request][number])
        reply = json.dumps(act(), default=str)
        with self._lock:
            self._add(request, reply)
            self._used[request] += 1
        return json.loads(reply)

    def record(self, kind: str, content: object, reply: object) -> None:
        """Record a reply in advance, for a later request."""
        with self._lock:
            self._add(_request(kind, content), json.dumps(reply))

    def _add(self, request: str, reply: str) -> None:
        self._replies[request].append(reply)
        self.lines.append(json.dumps([request, reply]))


def _request(kind: str, content: object) -> str:
    text = json.dumps([kind, content], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()  # keeps the journal short


_journal = ContextValue[Journal | None]("dqa_journal", None)
current_journal = _journal.get
"""Return the journal of this context; None without a journal."""
use_journal = _journal.use
"""Use a journal in this context."""


def replay(kind: str, content: object, act: Callable[[], Any]) -> Any:  # noqa: ANN401  (JSON)
    """Return the reply from the current journal (see `Journal.replay`), or call `act`."""
    journal = current_journal()
    return act() if journal is None else journal.replay(kind, content, act)
