"""Rewrites a statement so that masked properties and nodes that a filter leaves out are not read.

``n.email`` becomes a CASE that gives the mask where n has the label, so it holds whatever n is;
what reads a masked property in another way is refused. Every node of a MATCH that could have a
filtered label is held to its condition in the MATCH's WHERE; a node that could be reached in
another way is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

from dqa.core.cypher import quote_name, quote_text
from dqa.guard.cypher.facts import IN_MAP, Facts, MatchSpot
from dqa.guard.cypher.failure import NotAllowedError
from dqa.guard.cypher.hidden import HiddenParts, filters_of, folded, hidden_of, may_be, owners_of
from dqa.guard.cypher.lexer import NAME, tokens
from dqa.guard.cypher.parsing import parsed
from dqa.guard.cypher.words import STATIC
from dqa.guard.hidden import Mask
from dqa.guard.policy import Policy

ELEMENT = "n"
"""What the condition of a row filter calls its node."""
_ADDED = "dqa_node_"
_KEPT = 1_024
_NOTHING = "false"
_Edit = tuple[int, int, str]
"""From where to where a text is replaced, and by what."""


@lru_cache(maxsize=_KEPT)
def rewritten(statement: str, dialect: str, policy: Policy, *, empty: bool = False) -> str:
    """Return an allowed statement as it may run: without what `policy` hides.

    Parameters
    ----------
    statement, dialect
        What was written, and in what.
    policy
        What hides it.
    empty
        Whether filtered labels have no nodes at all: what fails then, fails whatever they hold.

    Raises
    ------
    Refusal
        It cannot be told with certainty what it reads.
    """
    facts = parsed(statement, dialect, policy)
    hidden = hidden_of(policy, fold=dialect == "ladybug")
    edits = [
        *_reading(facts, hidden, statement, dialect, empty=empty),
        *_filtering(facts, hidden, statement, dialect, empty=empty),
    ]
    if not edits:
        return statement
    for begin, end in facts.columns:
        if any(begin <= edit[0] and edit[1] <= end for edit in edits):
            edits.append((end, end, f" AS {quote_name(statement[begin:end])}"))
    parts: list[str] = []
    done = 0
    for begin, end, text in sorted(edits, key=lambda edit: edit[:2]):
        parts += statement[done:begin], text
        done = end
    return "".join((*parts, statement[done:]))


def refuse_unless_certain(facts: Facts, statement: str, dialect: str, policy: Policy) -> None:
    """Refuse a statement that cannot be rewritten with certainty."""
    hidden = hidden_of(policy, fold=dialect == "ladybug")
    if hidden.filters and _ADDED in statement.lower():
        raise NotAllowedError(f"names that begin with {_ADDED} are taken; use others")
    if facts.explains:
        raise NotAllowedError("a plan may tell of what is hidden; leave out EXPLAIN and PROFILE")
    told = next((name for name in facts.procedures if name not in STATIC), None)
    if told is not None:
        raise NotAllowedError(f"{told} may tell of what is hidden; use MATCH")
    for what, elements in (("whole", facts.wholes), ("by a computed name", facts.lookups)):
        for trace, text in elements:
            if hidden.owners and may_be(facts, trace, hidden.owners, hidden, dialect):
                raise NotAllowedError(
                    f"{text} would be read {what}, and some of its properties are masked; name the "
                    "properties, as in n.name"
                )
            is_value = what != "whole" or text.endswith((")", "}", "*"))
            if is_value and filters_of(facts, trace, hidden, dialect):
                raise NotAllowedError(
                    f"{text} would read what may be left out; name the properties, as in n.name"
                )
    for _ in _reading(facts, hidden, statement, dialect, empty=False):
        pass
    for _ in _filtering(facts, hidden, statement, dialect, empty=False):
        pass


def reads_filtered(statement: str, dialect: str, policy: Policy) -> bool:
    """Whether a statement matches nodes of which not all may be read."""
    facts = parsed(statement, dialect, policy)
    hidden = hidden_of(policy, fold=dialect == "ladybug")
    return any(_filtering(facts, hidden, statement, dialect, empty=False))


def _reading(
    facts: Facts, hidden: HiddenParts, statement: str, dialect: str, *, empty: bool
) -> Iterator[_Edit]:
    """Yield what properties are read as; refuse those that are read in another way than n.name.

    Of a node that is left out a property is null: engines look at conditions in an order of their
    own, and one that failed on its value would tell of it.
    """
    fold = dialect == "ladybug"
    for place, (trace, name) in enumerate(facts.reads):
        by_owner = hidden.masks.get(folded(name, fold=fold), {})
        is_masked = may_be(facts, trace, frozenset(by_owner), hidden, dialect)
        held = {} if place in facts.compared else filters_of(facts, trace, hidden, dialect)
        if not is_masked and (not held or trace & IN_MAP):
            continue
        access = facts.dotted.get(place)
        if access is None or access[2] < 0 or trace & IN_MAP:
            raise NotAllowedError(
                f"the property {name} is of what may be hidden, so it may only be read of a "
                f"variable, as in n.{name}; not in a pattern, a map or of what is computed"
            )
        begin, end, value = access
        text, variable = statement[begin:end], statement[begin:value]
        if held:
            is_sure = owners_of(facts, trace) == set(held)
            shown = " AND ".join(
                _condition(variable, filter_, dialect, is_sure=is_sure, empty=empty)
                for filter_ in held.values()
            )
            text = f"(CASE WHEN {shown} THEN {text} END)"
        if is_masked:
            text = _masked(variable, text, by_owner, dialect)
        yield begin, end, text


def _masked(
    variable: str, otherwise: str, by_owner: Mapping[str, tuple[str, Mask]], dialect: str
) -> str:
    cases = " ".join(
        f"WHEN {_has_label(variable, label, dialect)} THEN {_literal(mask)}"
        for label, mask in by_owner.values()
    )
    return f"(CASE {cases} ELSE {otherwise} END)"


def _has_label(variable: str, label: str, dialect: str) -> str:
    if dialect == "ladybug":
        # Of what an OPTIONAL MATCH has not found, it tells a label as well.
        return f"(id({variable}) IS NOT NULL AND label({variable}) = {quote_text(label)})"
    return f"{variable}:{quote_name(label)}"


def _literal(mask: Mask) -> str:
    if mask is None or isinstance(mask, bool):
        return {None: "null", True: "true", False: "false"}[mask]
    return quote_text(mask) if isinstance(mask, str) else repr(mask)


def _filtering(
    facts: Facts, hidden: HiddenParts, statement: str, dialect: str, *, empty: bool
) -> Iterator[_Edit]:
    """Yield what leaves nodes out; refuse where nodes could be reached that cannot be."""
    if not hidden.filters:
        return
    if facts.is_unbounded:
        raise NotAllowedError(
            "a path of any length could lead through nodes that may not be read; write each step"
        )
    wanted: dict[int, list[str]] = {}
    for index, spot in enumerate(facts.spots):
        held = filters_of(facts, spot.trace, hidden, dialect)
        if not held or spot.is_known:  # which was held to it where it was matched
            continue
        match = _match_of(index, facts)
        if match is None:
            raise NotAllowedError(
                "a node outside of a MATCH could be one that may not be read; write EXISTS { MATCH "
                "... } or COUNT { MATCH ... }"
            )
        variable = f"{_ADDED}{index}"
        if spot.variable is not None:
            variable = statement[slice(*spot.variable)]
        elif facts.has_star:
            raise NotAllowedError("* would hand on what has no name; name the variables")
        else:
            yield spot.opening, spot.opening, variable
        is_sure = owners_of(facts, spot.trace) == set(held)
        wanted.setdefault(match, []).extend(
            _condition(variable, filter_, dialect, is_sure=is_sure, empty=empty)
            for filter_ in held.values()
        )
    for number, conditions_ in wanted.items():
        yield from _added(facts.matches[number], conditions_)


def _match_of(index: int, facts: Facts) -> int | None:
    """Return the MATCH that a node pattern stands in; None where it is in a value."""
    inside: list[tuple[int, int | None]] = [
        (match.last - match.first, number)
        for number, match in enumerate(facts.matches)
        if match.first <= index < match.last
    ]
    values = [last - first for first, last in facts.expressed if first <= index < last]
    length, innermost = min(inside, default=(0, None))
    return innermost if not values or (inside and length < min(values)) else None


def _added(match: MatchSpot, conditions_: list[str]) -> Iterator[_Edit]:
    """Yield what adds conditions to a MATCH."""
    text = " AND ".join(dict.fromkeys(conditions_))
    if match.has_condition:
        yield match.begin, match.begin, f" {text} AND ("
        yield match.end, match.end, ")"
    else:
        yield match.begin, match.begin, f" WHERE {text}"


def _condition(
    variable: str, filter_: tuple[str, str], dialect: str, *, is_sure: bool, empty: bool
) -> str:
    """Return what a node has to be; `is_sure` where it has the one label that is filtered."""
    label, condition = filter_
    own = _NOTHING if empty else _of(variable, condition, dialect)
    return f"({own})" if is_sure else f"(NOT {_has_label(variable, label, dialect)} OR ({own}))"


def _of(variable: str, condition: str, dialect: str) -> str:
    """Return a condition about another variable."""
    keys, texts, starts, ends, _ = tokens(condition, dialect)
    parts: list[str] = []
    done = 0
    for at, (key, text) in enumerate(zip(keys, texts, strict=True)):
        is_property = at > 0 and keys[at - 1] == "."
        if key == NAME and text == ELEMENT and not is_property:
            parts += condition[done : starts[at]], variable
            done = ends[at]
    return "".join((*parts, condition[done:]))
