"""What a parser notes of a statement, for whoever limits what may be read.

Graph elements are followed through a statement as *traces*: integers used as bit sets. The lowest
bits say how a value may hold elements; each further bit stands for one element pattern, so that it
is known which labels an element that is read, or handed out whole, may have. Values that hold no
element, as properties do, have the trace 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

ITSELF = 1
"""The value may be an element."""
IN_LIST = 2
"""The value may be a list or a path that holds elements."""
IN_MAP = 4
"""The value may hold a map that holds elements."""
UNKNOWN = 8
"""The element may be any: it comes from no pattern, or from the middle of a path."""
_FIRST = 4
"""The bit of the first pattern."""


class NodeSpot(NamedTuple):
    """Where one node pattern stands in a statement, in characters.

    Attributes
    ----------
    position
        Where a label may be added: behind its variable, its opening bracket or its labels.
    begin
        Where its label expression begins, behind the colon or ``IS``; -1 where there is none.
    symbols
        The operators of the label expression.
    opening
        Behind its opening bracket.
    variable
        Where its variable begins and ends; None where it has none.
    trace
        What it may be.
    is_known
        Whether its variable is one that was matched before.
    """

    position: int
    begin: int
    symbols: str
    opening: int
    variable: tuple[int, int] | None
    trace: int
    is_known: bool


Access: TypeAlias = tuple[int, int, int]
"""A property that is read with a dot, in characters: where its value begins, where its name ends,
and where the value ends if that is a variable alone; -1 elsewhere."""


class MatchSpot(NamedTuple):
    """One MATCH: its node patterns, and where its condition stands.

    Attributes
    ----------
    first, last
        Of `Facts.spots`, from where and up to where.
    begin, end
        Where the condition is, behind WHERE; both are where one may be added if there is none.
    has_condition
        Whether there is one.
    """

    first: int
    last: int
    begin: int
    end: int
    has_condition: bool


@dataclass(slots=True)
class Facts:
    """What a statement says of a graph.

    Attributes
    ----------
    kinds
        By pattern, whether it is a ``"node"`` or a ``"relationship"``.
    owners
        By pattern, the labels or types it may have; None where it may have any.
    tested
        Traces and names of label predicates, as in ``n:Label``; None for a name that is computed.
    reads
        Traces and names of the properties that are read.
    wholes
        Traces and texts of what hands out, or may tell, all properties of an element.
    lookups
        Traces of elements of which a property is read whose name is computed.
    colons
        Where colons separate labels or types, and what is now written there instead.
    spots
        All node patterns, by position.
    dotted
        By their place in `reads`, where properties are read with a dot.
    compared
        The places in `reads` of what a pattern asks for, as in ``(n {name: 'x'})``.
    matches
        Every MATCH.
    expressed
        From where and up to where in `spots` a pattern stands that is a value and no MATCH.
    columns
        Where what is returned in the end stands that has no name of its own, in characters.
    is_unbounded, explains, has_star
        Whether it has a path of any length; whether it is EXPLAIN or PROFILE; whether it hands on
        all variables there are.
    functions, procedures
        What is called, in small letters.
    shows
        Whether it is a SHOW command.
    """

    kinds: list[str] = field(default_factory=list)
    owners: list[set[str] | None] = field(default_factory=list)
    tested: list[tuple[int, str | None]] = field(default_factory=list)
    reads: list[tuple[int, str]] = field(default_factory=list)
    wholes: list[tuple[int, str]] = field(default_factory=list)
    lookups: list[tuple[int, str]] = field(default_factory=list)
    colons: list[tuple[int, str]] = field(default_factory=list)
    spots: list[NodeSpot] = field(default_factory=list)
    dotted: dict[int, Access] = field(default_factory=dict)
    compared: set[int] = field(default_factory=set)
    matches: list[MatchSpot] = field(default_factory=list)
    expressed: list[tuple[int, int]] = field(default_factory=list)
    columns: list[tuple[int, int]] = field(default_factory=list)
    is_unbounded: bool = False
    explains: bool = False
    has_star: bool = False
    functions: list[str] = field(default_factory=list)
    procedures: list[str] = field(default_factory=list)
    shows: bool = False

    def pattern(self, kind: str, names: set[str] | None) -> int:
        """Note a new element pattern, and return its trace."""
        self.kinds.append(kind)
        self.owners.append(names)
        return 1 << (_FIRST + len(self.kinds) - 1) | ITSELF

    def narrow(self, trace: int, names: set[str] | None) -> None:
        """Note that a known element is mentioned with labels again.

        One that may be any stays so: the mention may be optional, denied, or within a subquery, and
        then the element is read whether or not it has these labels.
        """
        for index in self.patterns(trace):
            owners = self.owners[index]
            if owners is not None and names is not None:
                self.owners[index] = owners | names

    def only(self, trace: int, kind: str) -> int:
        """Return a trace without the patterns of the other kind."""
        for index in self.patterns(trace):
            if self.kinds[index] != kind:
                trace &= ~(1 << (_FIRST + index))
        return trace

    def patterns(self, trace: int) -> Iterator[int]:
        """Yield the indices of the patterns in a trace."""
        rest, index = trace >> _FIRST, 0
        while rest:
            if rest & 1:
                yield index
            rest >>= 1
            index += 1
