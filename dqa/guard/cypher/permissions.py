"""Whether a statement keeps to the labels, relationship types and properties of a policy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dqa.guard.cypher.facts import UNKNOWN, Facts
from dqa.guard.cypher.failure import NotAllowedError
from dqa.guard.cypher.words import STATIC
from dqa.guard.policy import Policy


@dataclass(frozen=True, slots=True)
class GraphPermissions:
    """A policy's lists for graphs, in the spelling that names are compared in.

    `hidden` are labels that may not be read where all others may: labels that come later, too.
    """

    labels: frozenset[str] | None
    hidden: frozenset[str]
    types: frozenset[str] | None
    allowed: frozenset[str]
    denied: frozenset[str]
    limited: frozenset[str]

    @property
    def limits_names(self) -> bool:
        """Whether there are labels or relationship types that may not be read."""
        return self.labels is not None or bool(self.hidden) or self.types is not None

    def allows(self, owner: str | None, name: str) -> bool:
        """Whether a property may be read of an owner; None is one that could be any."""
        if name in self.denied:
            return False
        if owner is not None:
            if f"{owner}.{name}" in self.denied:
                return False
            return owner not in self.limited or f"{owner}.{name}" in self.allowed
        if self.limits_names:
            return False
        return not any(entry.endswith(f".{name}") for entry in self.denied) and all(
            f"{other}.{name}" in self.allowed for other in self.limited
        )

    def allows_all(self, owner: str | None) -> bool:
        """Whether every property of an owner may be read."""
        if owner is None:
            return not (self.limits_names or self.limited or self.denied)
        return owner not in self.limited and not any(
            "." not in entry or entry.startswith(f"{owner}.") for entry in self.denied
        )


def require_allowed(facts: Facts, policy: Policy, *, fold: bool) -> None:
    """Refuse a statement that reads what `policy` does not let it read.

    An element without labels could be any; and where the name of a property is computed it could
    be any too. Intermediate nodes of a path are followed, but may not be handed out.

    Raises
    ------
    NotAllowedError
        It reads, or may read, what is not allowed.
    """
    permissions = permissions_of(policy, fold=fold)
    _require_names(facts, permissions)
    if permissions.hidden:
        _refuse_hidden(facts, permissions.hidden)
    for trace, name in facts.reads:
        name = name.lower() if fold else name  # noqa: PLW2901
        for owner in _owners(facts, trace):
            if not permissions.allows(owner, name):
                raise NotAllowedError(_property_problem(owner, name))
        if name in permissions.denied:
            raise NotAllowedError(f"the property {name} may not be read")
    for what, elements in (("whole", facts.wholes), ("by a computed name", facts.lookups)):
        for trace, text in elements:
            if not all(permissions.allows_all(owner) for owner in _owners(facts, trace)):
                raise NotAllowedError(
                    f"{text} would be read {what}, and not all of its properties may be read; "
                    "name the properties, as in n.name"
                )
    if permissions.limits_names:
        told = "SHOW" if facts.shows else next((p for p in facts.procedures if p not in STATIC), "")
        if told:
            raise NotAllowedError(f"{told} tells of what may not be read; leave it out")


def permissions_of(policy: Policy, *, fold: bool) -> GraphPermissions:
    """Return a policy's lists for graphs; `fold` where names differ by more than their case."""

    def folded(names: Iterable[str]) -> frozenset[str]:
        return frozenset(name.lower() for name in names) if fold else frozenset(names)

    allowed = folded(policy.properties or ())
    return GraphPermissions(
        None if policy.labels is None else folded(policy.labels),
        folded(policy.memory_labels),
        None if policy.relationship_types is None else folded(policy.relationship_types),
        allowed,
        folded(policy.denied_properties),
        frozenset(entry.rpartition(".")[0] for entry in allowed),
    )


def _require_names(facts: Facts, permissions: GraphPermissions) -> None:
    for kind, owners in zip(facts.kinds, facts.owners, strict=True):
        names, what = (
            (permissions.labels, "label")
            if kind == "node"
            else (permissions.types, "relationship type")
        )
        if names is None:
            continue
        if not names:
            raise NotAllowedError(f"no {what} may be read; leave out the {kind}")
        if owners is None:
            raise NotAllowedError(
                f"every {kind} needs a {what}, because not all may be read: one of "
                f"{', '.join(sorted(names))}"
            )
        for owner in sorted(owners - names):
            raise NotAllowedError(
                f"the {what} {owner} may not be read, only {', '.join(sorted(names))}"
            )
    for trace, tested in facts.tested:
        kinds = {facts.kinds[index] for index in facts.patterns(trace)}
        names = permissions.types if kinds == {"relationship"} else permissions.labels
        if names is not None and tested not in names:
            raise NotAllowedError(
                f"{tested or 'a computed name'} may not be tested for, only "
                f"{', '.join(sorted(names))}"
            )


def _refuse_hidden(facts: Facts, hidden: frozenset[str]) -> None:
    """Refuse nodes that are, or may be, of a label that is hidden among others that are not."""
    for kind, owners in zip(facts.kinds, facts.owners, strict=True):
        if kind != "node":
            continue
        if owners is None:
            raise NotAllowedError(
                "every node needs a label, because a memory lies in this database, whose nodes may "
                "not be read"
            )
        for owner in sorted(owners & hidden):
            raise NotAllowedError(f"the label {owner} may not be read: it is a memory's")
    for trace, tested in facts.tested:
        kinds = {facts.kinds[index] for index in facts.patterns(trace)}
        if kinds != {"relationship"} and (not tested or tested in hidden):
            raise NotAllowedError(
                f"{tested or 'a computed name'} may not be tested for: it is, or may be, a label "
                "of a memory"
            )


def _owners(facts: Facts, trace: int) -> list[str | None]:
    """Return what an element may be: labels and types, or None for any."""
    found: set[str] = set()
    unknown = bool(trace & UNKNOWN)
    for index in facts.patterns(trace):
        owners = facts.owners[index]
        if owners is None:
            unknown = True
        else:
            found |= owners
    named = sorted(found)
    return [*named, None] if unknown else [*named]


def _property_problem(owner: str | None, name: str) -> str:
    if owner is None:
        return (
            f"the property {name} may not be read of every element; give the node a label, or the "
            "relationship a type, of which it may"
        )
    return f"the property {name} of {owner} may not be read"
