"""Who asks a model, and how far they have come with what is recorded for them.

Two questions may be put in the same words, so a request alone does not say whose reply it needs.
`attempt_by` names who asks, for all that a decision asks of its models; `Recordings` keeps the
answers of each requester apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Generic, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

Requester: TypeAlias = tuple[str, ...]
"""Names that say who asks, such as a question's, its database's and its decider's."""

_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Attempt:
    """One attempt at a decision: all that a requester asks from its beginning to its end.

    Attributes
    ----------
    requester
        Who asks; empty where nobody said.
    played
        The requests that a recording has answered, so that nobody is paid for the replies.
    """

    requester: Requester = ()
    played: set[str] = field(default_factory=set)


_attempt: ContextVar[Attempt] = ContextVar("dqa_attempt", default=Attempt())  # noqa: B039  (frozen)


def current_attempt() -> Attempt:
    """Return the attempt that this context belongs to; outside of `attempt_by`, a nameless one."""
    return _attempt.get()


@contextmanager
def attempt_by(*names: str) -> Iterator[Attempt]:
    """Begin an attempt: what models are asked from here on is asked in these names.

    Every attempt plays what is recorded for its requester from the beginning. A decision that is
    made again, after an outage or in a resumed run, so gets the replies that it had, and asks only
    for those that it lacks.

    The name holds for this context: for what is called from here, and for the threads of LangChain
    and LangGraph. A decider with threads of its own has to run them in a copy of its context
    (`contextvars.copy_context`); otherwise they ask without a requester.

    Parameters
    ----------
    *names
        Who asks. No two decisions of a recording may have the same names.
    """
    attempt = Attempt(names)
    token = _attempt.set(attempt)
    try:
        yield attempt
    finally:
        _attempt.reset(token)


class Recordings(Generic[_Answer]):
    """Answers by requester and request, in their order, and how far each attempt has come.

    Not safe to use from several threads: whoever shares it locks it.
    """

    def __init__(self) -> None:
        self._answers: dict[tuple[Requester, str], list[_Answer]] = {}
        # Attempts that nothing refers to any more ask for nothing, so they may be forgotten.
        self._positions: WeakKeyDictionary[Attempt, Counter[tuple[Requester, str]]] = (
            WeakKeyDictionary()
        )

    def answers(self, requester: Requester, request: str) -> list[_Answer]:
        """Return what a requester was answered to a request; the list must not be changed."""
        return self._answers.get((requester, request), [])

    def position(self, attempt: Attempt, requester: Requester, request: str) -> int:
        """Return how many answers to a request an attempt has had."""
        counted = self._positions.get(attempt)
        return 0 if counted is None else counted[requester, request]

    def move(self, attempt: Attempt, requester: Requester, request: str, position: int) -> None:
        """Set how many answers to a request an attempt has had."""
        self._positions.setdefault(attempt, Counter())[requester, request] = position

    def put(self, requester: Requester, request: str, position: int, answer: _Answer) -> None:
        """Add an answer at a position, in place of the one that is there.

        Raises
        ------
        ValueError
            An answer before it is missing.
        """
        answers = self._answers.setdefault((requester, request), [])
        if not 0 <= position <= len(answers):
            raise ValueError(f"position {position} follows {len(answers)} replies")
        answers[position : position + 1] = [answer]

    def requesters(self, request: str) -> list[Requester]:
        """Return who has made a request."""
        return [requester for requester, made in self._answers if made == request]
