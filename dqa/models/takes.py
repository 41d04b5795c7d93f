"""Who asks a model, and how far they have come with what is recorded of them.

Two questions may be put in the same words, so a request alone does not say whose reply it needs.
`asked_by` names who asks, for all that a decision asks of its models; `Tapes` keeps what everybody
was answered apart, each on a tape of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

__all__ = ["Asker", "Take", "Tapes", "asked_by", "current_take"]

Asker: TypeAlias = tuple[str, ...]
"""Names that say who asks, such as a question's, its database's and its decider's."""

_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Take:
    """One go at a decision: all that an asker asks from its beginning to its end.

    Attributes
    ----------
    asker
        Who asks; empty where nobody said.
    """

    asker: Asker = ()


_take: ContextVar[Take] = ContextVar("dqa_take", default=Take())  # noqa: B039  (frozen)


def current_take() -> Take:
    """Return the take that this context is in: one that never ends outside of `asked_by`."""
    return _take.get()


@contextmanager
def asked_by(*names: str) -> Iterator[None]:
    """Say who asks models from here on, and begin a take of it.

    Every take plays what is recorded of its asker from the beginning. A decision that is made
    again, after an outage or in a run that goes on, is so given the replies that it had, and asks
    for those alone that it had not.

    The name holds for this context: for what is called from here, and for the threads of LangChain
    and LangGraph. A decider with threads of its own has to run them in a copy of its context
    (`contextvars.copy_context`); else they ask in nobody's name.

    Parameters
    ----------
    *names
        Who asks. No two decisions of a recording may have the same names.
    """
    token = _take.set(Take(names))
    try:
        yield
    finally:
        _take.reset(token)


class Tapes(Generic[_Answer]):
    """Answers by who asked and what, in their order, and how far each take has come.

    Not safe to use from several threads: whoever shares it locks it.
    """

    def __init__(self) -> None:
        self._answers: dict[tuple[Asker, str], list[_Answer]] = {}
        # A take that nothing holds any more asks for nothing.
        self._positions: WeakKeyDictionary[Take, Counter[tuple[Asker, str]]] = WeakKeyDictionary()

    def answers(self, asker: Asker, request: str) -> list[_Answer]:
        """Return what an asker was answered to a request; nobody changes the list."""
        return self._answers.get((asker, request), [])

    def position(self, take: Take, asker: Asker, request: str) -> int:
        """Return how many answers to a request a take has had."""
        counted = self._positions.get(take)
        return 0 if counted is None else counted[asker, request]

    def wind(self, take: Take, asker: Asker, request: str, position: int) -> None:
        """Say how many answers to a request a take has had."""
        self._positions.setdefault(take, Counter())[asker, request] = position

    def put(self, asker: Asker, request: str, position: int, answer: _Answer) -> None:
        """Put an answer behind those before it, or in the place of the one that is there.

        Raises
        ------
        ValueError
            An answer before it is missing.
        """
        answers = self._answers.setdefault((asker, request), [])
        if not 0 <= position <= len(answers):
            raise ValueError(f"position {position} follows {len(answers)} replies")
        answers[position : position + 1] = [answer]

    def askers(self, request: str) -> list[Asker]:
        """Return who has asked a request."""
        return [asker for asker, asked in self._answers if asked == request]
