"""State enumeration: the latent factors and their plausible values (section 3.1)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from dqa.core.errors import UnparsableReplyError
from dqa.models.conversation import Conversation
from dqa_dellma.context.problem import Problem
from dqa_dellma.events import AskedFor, FactorsEvent
from dqa_dellma.prompting import fold, on_one_line, prompt
from dqa_dellma.replies import read_object


class StateEnumeration(Protocol):
    """The first step: a problem to its latent factors."""

    def enumerate(self, problem: Problem, conversation: Conversation) -> FactorsEvent:
        """Return the factors with their values, each of them once."""
        ...


class AskedEnumeration:
    """Asks the model for k factors with l values each.

    What it names is taken as it comes where it differs: fewer factors or values are fewer, those
    beyond k or l are left out, a factor without values or named twice does not count. The result
    says what was asked for, what came, and what of it was left out or unusable.

    Parameters
    ----------
    factors
        k; None for two that concern all actions and two of each action's own, 16 at most.
    values
        l.
    """

    def __init__(self, factors: int | None = None, values: int = 3) -> None:
        self._factors = factors
        self._values = values

    def enumerate(self, problem: Problem, conversation: Conversation) -> FactorsEvent:
        """Return the factors with their values; `UnparsableReplyError` where none is named."""
        wanted, most = self._factors or min(2 + 2 * len(problem.actions), 16), self._values
        text = prompt(
            "enumeration",
            task=prompt("task", problem=problem),
            actions=len(problem.actions),
            factors=wanted,
            values=most,
        )
        named, unusable = conversation.ask(text, _read, "state enumeration")
        kept = dict(list(named.items())[:wanted])
        return FactorsEvent(
            factors={name: values[:most] for name, values in kept.items()},
            asked=AskedFor(factors=wanted, values=most),
            left_out=tuple(named)[wanted:],
            values_left_out={n: values[most:] for n, values in kept.items() if len(values) > most},
            unusable=unusable,
        )


def _read(reply: str) -> tuple[dict[str, tuple[str, ...]], int]:
    """Return the factors that a reply names, with all values, and how many entries are none."""
    listed = read_object(reply, "factors").get("factors")
    if isinstance(listed, dict):
        listed = [{"name": name, "values": values} for name, values in listed.items()]
    entries = listed if isinstance(listed, list) else []
    factors: dict[str, tuple[str, tuple[str, ...]]] = {}
    for entry in entries:
        name, values = _factor(entry)
        if name and values:
            factors.setdefault(fold(name), (name, values))
    if not factors:
        raise UnparsableReplyError(
            'The reply names no factor. Write {"factors": [{"name": "...", "values": [...]}]}.'
        )
    return dict(factors.values()), len(entries) - len(factors)


def _factor(entry: Any) -> tuple[str, tuple[str, ...]]:  # noqa: ANN401  (whatever a model gave)
    """Return an entry's name and its values, each once; nothing for what it lacks."""
    if not isinstance(entry, dict):
        return "", ()
    name, values = entry.get("name"), entry.get("values")
    texts = _texts(list(values) if isinstance(values, dict) else values)
    unlike = {fold(text): text for text in reversed(list(texts))}
    return next(_texts([name]), ""), tuple(reversed(unlike.values()))


def _texts(values: Any) -> Iterator[str]:  # noqa: ANN401  (whatever a model gave)
    """Yield what is text or a number in a list, on one line each."""
    for value in values if isinstance(values, list) else ():
        if isinstance(value, str | int | float) and (text := on_one_line(value)):
            yield text
