"""Check Cypher statements for Neo4j and LadybugDB.

From the tokens of a statement, the guard writes the text that the server receives. It allows only
the clauses, words, functions and procedures in `lists/*.txt`. The guard does not check the whole
grammar, because an invalid statement is harmless if it can only read.

Under a policy the guard adds the visible labels to every node pattern and the visible types to
every relationship, so a pattern never matches hidden data. If the policy hides properties, a
statement may read single properties such as ``n.name``, but no whole node or relationship.
"""

from __future__ import annotations

from collections.abc import Mapping

from dqa.core.schema import quote_name, quote_text
from dqa.guard.check import GuardVerdict, Refusal
from dqa.guard.cypher_reading import CypherReader
from dqa.guard.cypher_tokens import decoded
from dqa.guard.cypher_values import Element
from dqa.guard.policy import DEFAULT, Policy

_VARIABLE = "dqa_label"
_AMBIGUOUS = frozenset({"CASE", "DISTINCT", "NOT"})
"""Keywords that can also be names, as in ``distinct[0]``."""
_BEFORE_TEST = frozenset({"WHERE", "AND", "OR", "XOR", "NOT", "WHEN", "RETURN", "WITH", "(", ","})
_AFTER_TEST = frozenset({"", "AND", "OR", "XOR", "THEN", "AS", ")", "]", "}", ","})
"""Tokens that may stand before or after a test such as ``n <> m``. A clause may also follow the
test."""


def judge(statement: str, dialect: str, policy: Policy = DEFAULT) -> GuardVerdict:
    """Return the verdict on a statement, with the text that runs in its place.

    Parameters
    ----------
    statement
        The statement as its author wrote it.
    dialect
        ``"neo4j"`` or ``"ladybug"``.
    policy
        The additional functions that may be called, and the data that may be read.

    Raises
    ------
    Refusal
        The statement does more than read, reads hidden data, or cannot be parsed.
    """
    reader = CypherReader(statement, dialect, policy)
    _restrict(reader, policy)
    starts, ends, spelled = reader.starts, reader.ends, reader.spelled
    for first, last in reader.returned:  # a rewritten column keeps its original name
        written = [statement[starts[i] : ends[i]] for i in range(first, last)]
        if written != spelled[first:last]:
            original = decoded(statement[starts[first] : ends[last - 1]])
            spelled[last - 1] += f" AS {quote_name(original)}"
    text = "".join(reader.gap(i) + spelled[i] for i in range(len(reader.keys) - 1))
    return GuardVerdict(True, statement=text.lstrip())


def _restrict(reader: CypherReader, policy: Policy) -> None:
    """Add the limits of a policy to a statement; refuse a statement that reads hidden data."""
    if not reader.is_limited:
        return
    shown = policy.in_small_letters if reader.ladybug else policy
    if reader.describing:
        raise Refusal(
            f"{reader.describing[0]} could show hidden data of the whole database; use MATCH"
        )
    if shown.properties or shown.denied_properties:
        owners = _owners(reader)
        _refuse_whole_values(reader, set(owners))
        _restrict_properties(reader, shown, owners)
    _require_visible(reader, shown)
    for element in reader.elements:
        _restrict_element(reader, element, shown)
    if not reader.ladybug and (shown.labels is not None or shown.inside):
        _restrict_labels_function(reader, shown)


def _require_visible(reader: CypherReader, shown: Policy) -> None:
    """Refuse hidden labels and types, and paths that may lead through hidden nodes."""
    types = shown.relationship_types
    for element in reader.elements:
        shows = shown.shows_label if element.is_node else shown.shows_type
        for i in element.names:
            if not shows(reader.folded(i)):
                raise _not_shown(reader, i, shown.labels if element.is_node else types)
    for i in reader.tested:
        name = reader.folded(i)
        if not shown.shows_label(name) and name not in (types or ()):
            raise _not_shown(reader, i, shown.labels)
    is_long = reader.has_path_value or any(element.is_many for element in reader.elements)
    if is_long and shown.labels is not None:
        raise Refusal(
            "a path of variable length could lead through hidden nodes; write each of its steps"
        )


def _not_shown(reader: CypherReader, i: int, known: frozenset[str] | None) -> Refusal:
    names = f"; you may read {', '.join(sorted(known))}" if known else ""
    return Refusal(f"{reader.texts[i]} may not be read{names}")


def _restrict_element(reader: CypherReader, element: Element, shown: Policy) -> None:
    """Limit a node pattern to visible nodes, and a relationship to visible types.

    In Neo4j's label expressions, ``A|B`` means either label, and ``A&B`` means both.
    """
    is_node, spelled, wanted = element.is_node, reader.spelled, list[str]()
    if reader.ladybug and is_node and element.is_bound:
        return  # LadybugDB may fail if a later pattern of the variable has other labels
    allowed = shown.labels if is_node else shown.relationship_types
    if allowed is not None and not (element.names and element.is_plain):
        if not allowed:
            what, kind = ("node", "label") if is_node else ("relationship", "type")
            raise Refusal(f"no {what} may be read, because the policy allows no {kind}")
        wanted.append("|".join(map(quote_name, shown.spelled(allowed))))
    if is_node and not reader.ladybug:
        denying = {owner for i in element.keys for owner in shown.denying(reader.folded(i))}
        wanted += [f"!{quote_name(name)}" for name in sorted(denying)]
    if is_node and shown.inside is not None:
        wanted.append(quote_name(shown.inside))
    if not wanted:
        return
    several = len(wanted) > 1 or bool(element.end)
    text = "&".join(f"({part})" if "|" in part and several else part for part in wanted)
    if element.end:
        is_either = "|" in reader.keys[element.begin : element.end]
        spelled[element.begin] = "(" * is_either + spelled[element.begin]
        spelled[element.end - 1] += ")" * is_either + f"&{text}"
    elif reader.keys[element.opening] == "-":
        spelled[element.opening] += f"[:{text}]"
    else:
        spelled[element.opening if element.variable is None else element.variable] += f":{text}"


def _restrict_labels_function(reader: CypherReader, shown: Policy) -> None:
    """Limit the result of ``labels(n)`` to visible labels."""
    inside = shown.inside
    tests = [f"NOT {_VARIABLE} IN [{quote_text(inside)}]"] if inside is not None else []
    if shown.labels is not None:
        tests.append(f"{_VARIABLE} IN [{', '.join(map(quote_text, sorted(shown.labels)))}]")
    for name, opening in reader.calls:
        if name == "labels":
            reader.spelled[opening - 1] = f"[{_VARIABLE} IN {reader.spelled[opening - 1]}"
            reader.spelled[reader.closing[opening]] += f" WHERE {' AND '.join(tests)}]"


# Properties


def _owners(reader: CypherReader) -> dict[str, set[str]]:
    """Return the variables of nodes, relationships and paths, with the labels in their patterns.

    The scope of a variable is ignored: a name means the same variable in the whole statement.
    """
    owners: dict[str, set[str]] = {name: set() for name in reader.variables}
    for element in reader.elements:
        if element.variable is not None and element.is_plain:
            owners[reader.folded(element.variable)] |= {reader.folded(i) for i in element.names}
    for value, alias in reader.aliases:
        known = owners.get(reader.folded(value))
        if known is not None and reader.keys[value - 1] != ".":
            owners.setdefault(reader.folded(alias), set()).update(known)
    return owners


def _refuse_whole_values(reader: CypherReader, names: set[str]) -> None:
    """Refuse whole nodes, relationships and paths as values: they may have hidden properties."""
    keys, clauses = reader.keys, reader.words["clauses"]
    counting = reader.words["functions without properties"]
    safe = {opening for name, opening in reader.calls if name in counting}
    uses = {i for i in reader.uses if reader.folded(i) in names}
    harmless: set[int] = set()
    for i in uses:
        is_test = keys[i + 1] in {"=", "<>"} and i + 2 in uses
        if is_test and keys[i - 1] in _BEFORE_TEST and keys[i + 3] in _AFTER_TEST | clauses:
            harmless |= {i, i + 2}
        elif keys[i + 1] == ")" and i - 1 - (keys[i - 1] == "DISTINCT") in safe:
            harmless.add(i)
    if uses - harmless:
        raise _whole(reader.texts[min(uses - harmless)])
    if any(keys[i - 1] == "." or names for i in reader.wholes):
        raise _whole("*")
    if reader.has_path_value:
        raise _whole("a path")
    for name in names:
        if name.upper() in _AMBIGUOUS:
            raise Refusal(f"the name {name} is also a keyword of Cypher; use another name")


def _whole(name: str) -> Refusal:
    return Refusal(f"{name} could show hidden properties; read single properties, as in n.name")


def _restrict_properties(
    reader: CypherReader, shown: Policy, owners: Mapping[str, set[str]]
) -> None:
    """Replace a property by null if the policy hides it for the label or type of the value.

    Refuse a property that the policy hides for all labels or types of its pattern.
    """
    keys = [i for element in reader.elements for i in element.keys]
    for i in (*keys, *(i for _, i in reader.properties)):
        if reader.folded(i) in shown.denied_properties:
            raise Refusal(f"the property {reader.texts[i]} may not be read")
    for element in reader.elements:
        denying = frozenset(o for i in element.keys for o in shown.denying(reader.folded(i)))
        names = {reader.folded(i) for i in element.names}
        is_excluded = element.is_node and not reader.ladybug and not names & denying
        if denying and not is_excluded and (names & denying or not names or not element.is_plain):
            raise Refusal(f"the pattern reads a hidden property of {', '.join(sorted(denying))}")
    for value, i in reader.properties:
        known = None if value is None else owners.get(reader.folded(value))
        denying = shown.denying(reader.folded(i))
        if value is None or known is None or not denying:
            continue
        name, variable = reader.texts[i], reader.spelled[value]
        if known and known <= denying:
            raise Refusal(f"the property {name} of {', '.join(sorted(known))} may not be read")
        if reader.ladybug and not shown.shows_somewhere(reader.folded(i)):
            raise Refusal(f"the property {name} may not be read")
        if value != i - 2:
            raise Refusal(
                f".{name} in a map could show a hidden property; write {name}: {variable}.{name} "
                "instead"
            )
        test = f"{variable}:{'|'.join(map(quote_name, sorted(denying)))}"
        if reader.ladybug:
            test = f"label({variable}) IN [{', '.join(map(quote_text, shown.spelled(denying)))}]"
        reader.spelled[value] = f"(CASE WHEN {test} THEN null ELSE {variable}"
        reader.spelled[i] += " END)"
