"""What a policy hides of a graph, and which elements of a statement that may concern."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from dqa.guard.cypher.facts import UNKNOWN, Facts
from dqa.guard.hidden import Mask
from dqa.guard.policy import Policy


@dataclass(frozen=True, slots=True)
class HiddenParts:
    """What a policy hides of a graph, in the spelling that names are compared in."""

    masks: Mapping[str, Mapping[str, tuple[str, Mask]]]
    """By property and label or type: the label as it is written, and the mask."""
    types: frozenset[str] | None
    """The relationship types there are that are no labels; None where that is not known."""
    filters: Mapping[str, tuple[str, str]]
    """By label: the label as it is written, and the condition."""

    @property
    def owners(self) -> frozenset[str]:
        """The labels and types that have masked properties."""
        return frozenset(owner for by_owner in self.masks.values() for owner in by_owner)


def filters_of(
    facts: Facts, trace: int, hidden: HiddenParts, dialect: str
) -> dict[str, tuple[str, str]]:
    """Return the filters that an element may have to pass."""
    return {
        label: filter_
        for label, filter_ in hidden.filters.items()
        if may_be(facts, trace, frozenset({label}), hidden, dialect)
    }


def owners_of(facts: Facts, trace: int) -> set[str] | None:
    """Return the labels and types that an element may be written with; None for any."""
    found: set[str] = set()
    for index in facts.patterns(trace):
        owners = facts.owners[index]
        if owners is None:
            return None
        found |= owners
    return None if trace & UNKNOWN else found


def may_be(
    facts: Facts, trace: int, names: frozenset[str], hidden: HiddenParts, dialect: str
) -> bool:
    """Whether an element may have one of these labels or types.

    A node of Neo4j that is matched by one label may have others; a relationship has one type.
    """
    if not trace:
        return False
    if not names:
        return False
    owners = owners_of(facts, trace)
    if owners is None or names & owners:
        return True
    has_nodes = any(facts.kinds[index] == "node" for index in facts.patterns(trace))
    return dialect == "neo4j" and has_nodes and bool(names - (hidden.types or frozenset()))


@lru_cache(maxsize=64)
def hidden_of(policy: Policy, *, fold: bool) -> HiddenParts:
    """Return what a policy hides; `fold` where names differ by more than their case."""
    masks: dict[str, dict[str, tuple[str, Mask]]] = {}
    for name, mask in policy.masks.items():
        owner, _, field = name.partition(".")
        by_owner = masks.setdefault(folded(field, fold=fold), {})
        by_owner[folded(owner, fold=fold)] = (_written(owner, policy, fold=fold), mask)
    nodes = policy.schema.nodes if policy.schema is not None else ()
    edges = policy.schema.edges if policy.schema is not None else ()
    labels = {folded(node.label, fold=fold) for node in nodes}
    types = {folded(edge.label, fold=fold) for edge in edges}
    filters = {
        folded(label, fold=fold): (_written(label, policy, fold=fold), condition)
        for label, condition in policy.row_filters.items()
    }
    return HiddenParts(
        masks, frozenset(types - labels) if policy.schema is not None else None, filters
    )


def _written(name: str, policy: Policy, *, fold: bool) -> str:
    """Return a label as the database writes it, which is what it is compared with."""
    schema = policy.schema
    known: list[str] = []
    if schema is not None:
        known = [*(node.label for node in schema.nodes), *(edge.label for edge in schema.edges)]
    return next((label for label in known if same(label, name, fold=fold)), name)


def same(one: str, other: str, *, fold: bool) -> bool:
    """Whether two names mean the same."""
    return folded(one, fold=fold) == folded(other, fold=fold)


def folded(name: str, *, fold: bool) -> str:
    """Return a name as it is compared."""
    return name.lower() if fold else name
