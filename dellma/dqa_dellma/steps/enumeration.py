"""State enumeration: the latent factors and their plausible values (section 3.1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dqa.core.errors import InvalidAnswerError, UnparsableReplyError
from dqa.core.question import Candidate
from dqa.deciders.prompting import fold, on_one_line
from dqa.deciders.replies import read_action, read_object
from dqa_dellma.findings import AskedFor, NamedFactors

_ALL = frozenset({"all", "all actions", "all of them", "every action"})


@dataclass(frozen=True, slots=True)
class Wanted:
    """A request for factors: the number of factors and of their values, and the actions.

    Attributes
    ----------
    actions
        The actions that factors may affect.
    factors, values
        The number of factors (k in the paper), and the number of values of each factor (l).
    """

    actions: Sequence[Candidate]
    factors: int
    values: int


def read_factors(reply: str, wanted: Wanted) -> NamedFactors:
    """Read factors and their values. Raise `UnparsableReplyError` if there are none.

    Factors and values that exceed the wanted numbers are left out. Entries without a name, without
    values, or with a repeated name are ignored. The result lists the factors and values that were
    left out, and the number of ignored entries.
    """
    named, unusable = _read(reply, wanted.actions)
    selected, most = named[: wanted.factors], wanted.values
    return NamedFactors(
        factors={one.name: one.values[:most] for one in selected},
        about={one.name: one.about for one in selected if one.about},
        asked=AskedFor(factors=wanted.factors, values=most),
        left_out=tuple(one.name for one in named[wanted.factors :]),
        values_left_out={one.name: one.values[most:] for one in selected if one.values[most:]},
        unusable=unusable,
        unplaced=sum(one.about is None for one in selected),
    )


@dataclass(frozen=True, slots=True)
class _Factor:
    """A factor in a reply.

    Attributes
    ----------
    name, values
        The name of the factor, and its values without repetition.
    about
        The actions that the factor affects. Empty means all actions. None means that the reply does
        not list the actions.
    """

    name: str
    values: tuple[str, ...]
    about: tuple[Candidate, ...] | None


def _read(reply: str, actions: Sequence[Candidate]) -> tuple[list[_Factor], int]:
    """Return the factors in a reply with all their values, and the number of unusable entries."""
    listed = read_object(reply, "factors").get("factors")
    if isinstance(listed, dict):
        listed = [{"name": name, "values": values} for name, values in listed.items()]
    entries = listed if isinstance(listed, list) else []
    factors: dict[str, _Factor] = {}
    for entry in entries:
        name, values = _factor(entry)
        if name and values:
            factors.setdefault(fold(name), _Factor(name, values, _about(entry, actions)))
    if not factors:
        raise UnparsableReplyError(
            'The reply has no factors. Write {"factors": [{"name": "...", "actions": "all", '
            '"values": [...]}]}.'
        )
    return list(factors.values()), len(entries) - len(factors)


def _about(entry: Mapping[str, Any], actions: Sequence[Candidate]) -> tuple[Candidate, ...] | None:
    """Return the actions that a factor affects, according to the model's entry for it."""
    affected = entry.get("actions", entry.get("action"))
    listed = affected if isinstance(affected, list) else [affected]
    if all(isinstance(one, str) and fold(one) in _ALL for one in listed):
        return () if listed else None
    try:
        named = {read_action(str(one), actions) for one in listed if one is not None}
    except InvalidAnswerError:
        return None
    if not named:
        return None
    return () if len(named) == len(actions) else tuple(a for a in actions if a in named)


def _factor(entry: Any) -> tuple[str, tuple[str, ...]]:  # noqa: ANN401  (JSON from a model)
    """Return the name of an entry, and its values without repetition. Missing parts are empty."""
    if not isinstance(entry, dict):
        return "", ()
    name, values = entry.get("name"), entry.get("values")
    texts = _texts(list(values) if isinstance(values, dict) else values)
    unlike = {fold(text): text for text in reversed(list(texts))}
    return next(_texts([name]), ""), tuple(reversed(unlike.values()))


def _texts(values: Any) -> Iterator[str]:  # noqa: ANN401  (JSON from a model)
    """Yield the texts and numbers in a list, each as a single line of text."""
    for value in values if isinstance(values, list) else ():
        if isinstance(value, str | int | float) and (text := on_one_line(value)):
            yield text
