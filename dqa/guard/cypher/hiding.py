"""Rewrites a statement so that masked properties and nodes that a filter leaves out are not read.

``n.email`` becomes a CASE that gives the mask where n has the label, so it holds whatever n is;
what reads a masked property in another way is refused. Every node of a MATCH that could have a
filtered label is held to its condition in the MATCH's WHERE; a node that could be reached in
another way is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial

from dqa.core.cypher import quote_name, quote_text
from dqa.core.errors import UsageError
from dqa.core.schema import NodeInfo
from dqa.guard.cypher.facts import IN_MAP, UNKNOWN, Access, Facts, MatchSpot
from dqa.guard.cypher.failure import NotAllowedError
from dqa.guard.cypher.lexer import NAME, tokens
from dqa.guard.cypher.parsing import parsed
from dqa.guard.cypher.words import STATIC
from dqa.guard.hidden import Mask
from dqa.guard.policy import Policy
from dqa.guard.reading import read
from dqa.guard.verdict import Refusal

ELEMENT = "n"
"""What the condition of a row filter calls its node."""
_ADDED = "dqa_node_"
_KEPT = 1_024
_NOTHING = "false"
_WRITE = f"write comparisons of its properties with plain values, as {ELEMENT}.region = 'EU'"

_AFTER = (")", "RETURN", "1", "AS", "c", "")
"""What follows a condition that is tried."""

_Edit = tuple[int, int, str]
"""From where to where a text is replaced, and by what."""


@dataclass(frozen=True, slots=True)
class _Hidden:
    """What a policy hides of a graph, in the spelling that names are compared in."""

    masks: Mapping[str, Mapping[str, tuple[str, Mask]]]
    """By property and label or type: the label as it is written, and the mask."""
    types: frozenset[str] | None
    """The relationship types there are that are no labels; None where that is not known."""
    filters: Mapping[str, tuple[str, str]]
    """By label: the label as it is written, and the condition."""

    @property
    def owners(self) -> frozenset[str]:
        return frozenset(owner for by_owner in self.masks.values() for owner in by_owner)


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
    hidden = _hidden_of(policy, fold=dialect == "ladybug")
    edits = [
        *_masking(facts, hidden, statement, dialect),
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
    hidden = _hidden_of(policy, fold=dialect == "ladybug")
    if hidden.filters and _ADDED in statement.lower():
        raise NotAllowedError(f"names that begin with {_ADDED} are taken; use others")
    if facts.explains:
        raise NotAllowedError("a plan may tell of what is hidden; leave out EXPLAIN and PROFILE")
    told = next((name for name in facts.procedures if name not in STATIC), None)
    if told is not None:
        raise NotAllowedError(f"{told} may tell of what is hidden; use MATCH")
    for what, elements in (("whole", facts.wholes), ("by a computed name", facts.lookups)):
        for trace, text in elements:
            if hidden.owners and _may_be(facts, trace, hidden.owners, hidden, dialect):
                raise NotAllowedError(
                    f"{text} would be read {what}, and some of its properties are masked; name the "
                    "properties, as in n.name"
                )
    for _ in _masking(facts, hidden, statement, dialect):
        pass
    for _ in _filtering(facts, hidden, statement, dialect, empty=False):
        pass


def reads_filtered(statement: str, dialect: str, policy: Policy) -> bool:
    """Whether a statement matches nodes of which not all may be read."""
    facts = parsed(statement, dialect, policy)
    hidden = _hidden_of(policy, fold=dialect == "ladybug")
    return any(_filtering(facts, hidden, statement, dialect, empty=False))


def conditions(policy: Policy, dialect: str) -> Iterator[tuple[str, str]]:
    """Yield statements that show, with no node read, that what a policy hides can be hidden.

    Raises
    ------
    UsageError
        A row filter is no condition over the properties of a label.
    """
    nodes = policy.schema.nodes if policy.schema is not None else ()
    edges = policy.schema.edges if policy.schema is not None else ()
    fold = dialect == "ladybug"
    hidden = _hidden_of(policy, fold=fold)
    for name, condition in policy.row_filters.items():
        for node in nodes:
            if _same(node.label, name, fold=fold):
                _require_condition(node, condition, dialect, policy)
        if any(_same(edge.label, name, fold=fold) for edge in edges):
            raise UsageError(
                f"The policy's row_filters has {name}, a relationship type, and may have labels: "
                "filter the nodes that it joins."
            )
    for node in nodes:
        masked = [
            field.name
            for field in node.properties
            if _folded(node.label, fold=fold)
            in hidden.masks.get(_folded(field.name, fold=fold), {})
        ]
        known = hidden.filters.get(_folded(node.label, fold=fold))
        if masked or known is not None:
            condition = f" AND ({known[1]})" if known is not None else ""
            pattern = f"MATCH ({ELEMENT}:{quote_name(node.label)})"
            returned = ", ".join(
                f"{ELEMENT}.{quote_name(name)} AS {quote_name(name)}" for name in masked
            )
            plain = f"{pattern} RETURN {returned or 'count(*) AS c'}"
            probe = rewritten(plain, dialect, _masks_alone(policy))
            yield node.label, probe.replace(pattern, f"{pattern} WHERE false{condition}", 1)


def _masks_alone(policy: Policy) -> Policy:
    return Policy(masks=policy.masks, schema=policy.schema)


def _require_condition(node: NodeInfo, condition: str, dialect: str, policy: Policy) -> None:
    fold = dialect == "ladybug"
    problem = ""
    statement = f"MATCH ({ELEMENT}:{quote_name(node.label)}) WHERE ({condition}) RETURN 1 AS c"
    try:
        facts = read(partial(parsed, statement, dialect, Policy(functions=policy.functions)))
        keys, texts, starts, ends, closing = tokens(statement, dialect)
        opening = keys.index("WHERE") + 1
        uses = {
            starts[at]
            for at in range(opening, len(keys))
            if keys[at] == NAME and texts[at] == ELEMENT and keys[at - 1] != "."
        }
        has_comment = any(
            statement[end:start].strip() for end, start in zip(ends[:-1], starts[1:], strict=True)
        )
        read_at = {access.begin for access in facts.dotted.values()}
        names = {_folded(field.name, fold=fold) for field in node.properties}
        other = [name for _, name in facts.reads if _folded(name, fold=fold) not in names]
        is_one = closing[opening] == len(keys) - len(_AFTER) and len(facts.kinds) == 1
        if (
            not is_one
            or has_comment
            or not uses
            or uses != read_at
            or len(facts.dotted) != len(facts.reads)
        ):
            problem = _WRITE
        elif other:
            problem = f"{node.label} has no property {other[0]}"
    except Refusal as refusal:
        problem = str(refusal)
    if problem:
        raise UsageError(
            f"The policy's row filter of {node.label} cannot be used: {problem}. It is: {condition}"
        )


def _masking(facts: Facts, hidden: _Hidden, statement: str, dialect: str) -> Iterator[_Edit]:
    """Yield what masks the properties that are read; refuse those that are read in another way."""
    fold = dialect == "ladybug"
    for place, (trace, name) in enumerate(facts.reads):
        by_owner = hidden.masks.get(_folded(name, fold=fold))
        if not by_owner or not _may_be(facts, trace, frozenset(by_owner), hidden, dialect):
            continue
        access = facts.dotted.get(place)
        if access is None or access.value < 0 or trace & IN_MAP:
            raise NotAllowedError(
                f"the property {name} is masked, and may only be read of a variable, as in "
                f"n.{name}; not in a pattern, a map or of what is computed"
            )
        yield access.begin, access.end, _masked(access, statement, by_owner, dialect)


def _masked(
    access: Access, statement: str, by_owner: Mapping[str, tuple[str, Mask]], dialect: str
) -> str:
    variable = statement[access.begin : access.value]
    cases = " ".join(
        f"WHEN {_has_label(variable, label, dialect)} THEN {_literal(mask)}"
        for label, mask in by_owner.values()
    )
    return f"(CASE {cases} ELSE {statement[access.begin : access.end]} END)"


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
    facts: Facts, hidden: _Hidden, statement: str, dialect: str, *, empty: bool
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
        held = {
            label: filter_
            for label, filter_ in hidden.filters.items()
            if _may_be(facts, spot.trace, frozenset({label}), hidden, dialect)
        }
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
        is_sure = _owners(facts, spot.trace) == set(held)
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


def _owners(facts: Facts, trace: int) -> set[str] | None:
    """Return the labels and types that an element may be written with; None for any."""
    found: set[str] = set()
    for index in facts.patterns(trace):
        owners = facts.owners[index]
        if owners is None:
            return None
        found |= owners
    return None if trace & UNKNOWN else found


def _may_be(facts: Facts, trace: int, names: frozenset[str], hidden: _Hidden, dialect: str) -> bool:
    """Whether an element may have one of these labels or types.

    A node of Neo4j that is matched by one label may have others; a relationship has one type.
    """
    if not trace:
        return False
    if not names:
        return False
    owners = _owners(facts, trace)
    if owners is None or names & owners:
        return True
    has_nodes = any(facts.kinds[index] == "node" for index in facts.patterns(trace))
    return dialect == "neo4j" and has_nodes and bool(names - (hidden.types or frozenset()))


@lru_cache(maxsize=64)
def _hidden_of(policy: Policy, *, fold: bool) -> _Hidden:
    masks: dict[str, dict[str, tuple[str, Mask]]] = {}
    for name, mask in policy.masks.items():
        owner, _, field = name.partition(".")
        by_owner = masks.setdefault(_folded(field, fold=fold), {})
        by_owner[_folded(owner, fold=fold)] = (_written(owner, policy, fold=fold), mask)
    nodes = policy.schema.nodes if policy.schema is not None else ()
    edges = policy.schema.edges if policy.schema is not None else ()
    labels = {_folded(node.label, fold=fold) for node in nodes}
    types = {_folded(edge.label, fold=fold) for edge in edges}
    filters = {
        _folded(label, fold=fold): (_written(label, policy, fold=fold), condition)
        for label, condition in policy.row_filters.items()
    }
    return _Hidden(masks, frozenset(types - labels) if policy.schema is not None else None, filters)


def _written(name: str, policy: Policy, *, fold: bool) -> str:
    """Return a label as the database writes it, which is what it is compared with."""
    schema = policy.schema
    known: list[str] = []
    if schema is not None:
        known = [*(node.label for node in schema.nodes), *(edge.label for edge in schema.edges)]
    return next((label for label in known if _same(label, name, fold=fold)), name)


def _same(one: str, other: str, *, fold: bool) -> bool:
    return _folded(one, fold=fold) == _folded(other, fold=fold)


def _folded(name: str, *, fold: bool) -> str:
    return name.lower() if fold else name
