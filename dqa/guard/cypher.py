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
from dqa.guard.cypher_cursor import Element
from dqa.guard.cypher_reading import CypherReader
from dqa.guard.cypher_tokens import decoded, gap
from dqa.guard.policy import DEFAULT, Policy

_VARIABLE = "dqa_label"
_AMBIGUOUS = frozenset({"CASE", "DISTINCT", "NOT"})
"""Keywords that can also be names, as in ``distinct[0]``."""
_STATIC = frozenset({"FUNCTION", "FUNCTIONS", "PROCEDURE", "PROCEDURES"})
"""Objects of SHOW that reveal nothing about the data."""


def judge(statement: str, dialect: str, policy: Policy = DEFAULT) -> GuardVerdict:
    """Return the verdict on a statement, with the text that runs instead.

    Parameters
    ----------
    statement
        The statement as its author wrote it.
    dialect
        ``"neo4j"`` or ``"ladybug"``.
    policy
        Additional functions that may be called, and limits on what may be read.

    Raises
    ------
    Refusal
        The statement does more than read, reads hidden data, or cannot be parsed.
    """
    reader = read_statement(statement, dialect, policy)
    _restrict(reader, policy)
    found, spelled = reader.found, reader.spelled
    for first, last in reader.returned:  # a rewritten column keeps its original name
        written = [statement[found.starts[i] : found.ends[i]] for i in range(first, last)]
        if written != spelled[first:last]:
            original = decoded(statement[found.starts[first] : found.ends[last - 1]])
            spelled[last - 1] += f" AS {quote_name(original)}"
    end = len(found.keys) - 1
    text = "".join(gap(statement, found, i) + spelled[i] for i in range(end)).lstrip()
    return GuardVerdict(True, statement=text)


def read_statement(statement: str, dialect: str, policy: Policy = DEFAULT) -> CypherReader:
    """Parse a statement; raise `Refusal` if it does more than read."""
    reader = CypherReader(statement, dialect, policy)
    if reader.used and reader.used.lower() != (policy.database or "").lower():
        raise Refusal("it begins with USE, which could read another database; leave out USE")
    return reader


def _restrict(reader: CypherReader, policy: Policy) -> None:
    """Add the limits of a policy to a statement; raise `Refusal` if it reads hidden data."""
    shown = policy.in_small_letters if reader.ladybug else policy
    if not policy.limits_graph and not policy.inside:
        return
    _refuse_descriptions(reader, policy)
    if shown.properties or shown.denied_properties:
        owners = _owners(reader)
        _refuse_whole_values(reader, set(owners))
        _restrict_properties(reader, shown, owners)
    _require_visible(reader, shown)
    for element in reader.elements:
        if element.kind == "node":
            _restrict_node(reader, element, shown)
        elif shown.relationship_types is not None:
            _restrict_relationship(reader, element, shown.relationship_types)
    if reader.ladybug:
        return
    if shown.labels is not None or shown.inside:
        _restrict_labels_function(reader, shown)
    for i in reader.colons:  # Neo4j rejects statements that mix `A:B` and `A&B`
        reader.spelled[i] = "" if reader.keys[i - 1] == "|" else "&"


def _refuse_descriptions(reader: CypherReader, policy: Policy) -> None:
    """Refuse a statement that describes the whole database."""
    static = reader.words["procedures"]
    whole = reader.words["functions of whole elements"]
    found = [f"the procedure {name}" for name in reader.procedures if name not in static]
    found += [f"the function {call.name}" for call in reader.calls if call.name in whole]
    found += ["an index search"] * reader.searches
    if reader.shows and not _STATIC & set(reader.shows.split()):
        found.append(f"SHOW {reader.shows}")
    if reader.explains and policy.limits_graph:
        found.append("a plan")
    if found:
        raise Refusal(f"{found[0]} describes the whole database; use MATCH")


def _require_visible(reader: CypherReader, shown: Policy) -> None:
    """Refuse hidden labels and types, and paths that may lead through hidden nodes."""
    types = shown.relationship_types
    for element in reader.elements:
        is_node = element.kind == "node"
        shows = shown.shows_label if is_node else shown.shows_type
        for i in element.names:
            if not shows(reader.folded(i)):
                raise _not_shown(reader, i, shown.labels if is_node else types)
    for i in reader.tested:
        name = reader.folded(i)
        if not shown.shows_label(name) and name not in (types or ()):
            raise _not_shown(reader, i, shown.labels)
    if reader.has_computed_label and shown.labels is not None:
        raise Refusal("it computes a label, which could be hidden; write the name of the label")
    is_long = reader.has_path_value or any(element.is_many for element in reader.elements)
    if is_long and shown.labels is not None:
        raise Refusal(
            "its path of variable length could lead through hidden nodes; write each step"
        )


def _not_shown(reader: CypherReader, i: int, known: frozenset[str] | None) -> Refusal:
    names = f"; you may read {', '.join(sorted(known))}" if known else ""
    return Refusal(f"{reader.texts[i]} may not be read{names}")


def _restrict_node(reader: CypherReader, element: Element, shown: Policy) -> None:
    """Limit a node pattern to visible nodes."""
    wanted: list[str] = []
    if shown.labels is not None and not (element.names and element.is_plain):
        if not shown.labels:
            raise Refusal("no node may be read, because no label is allowed; leave out the node")
        wanted.append("|".join(map(quote_name, sorted(shown.labels))))
    if not reader.ladybug:
        denying = {owner for i in element.keys for owner in shown.denying(reader.folded(i))}
        wanted += [f"!{quote_name(name)}" for name in sorted(denying)]
    if shown.inside is not None:
        wanted.append(quote_name(shown.inside))
    _add_names(reader, element, wanted)


def _restrict_relationship(reader: CypherReader, element: Element, types: frozenset[str]) -> None:
    if element.names and element.is_plain:
        return
    if not types:
        raise Refusal("no relationship type may be read; leave out the relationship")
    names = "|".join(map(quote_name, sorted(types)))
    if reader.keys[element.opening] == "-":
        reader.spelled[element.opening] += f"[:{names}]"
    else:
        _add_names(reader, element, [names])


def _add_names(reader: CypherReader, element: Element, wanted: list[str]) -> None:
    """Limit an element to the label expressions `wanted`; ``A|B`` means either label."""
    if not wanted:
        return
    spelled = reader.spelled
    several = len(wanted) > 1 or bool(element.end)
    text = "&".join(f"({part})" if "|" in part and several else part for part in wanted)
    if not element.end:
        spelled[element.opening if element.variable is None else element.variable] += f":{text}"
    elif "|" in reader.keys[element.begin : element.end]:
        spelled[element.begin] = "(" + spelled[element.begin]
        spelled[element.end - 1] += f")&{text}"
    else:
        spelled[element.end - 1] += f"&{text}"


def _restrict_labels_function(reader: CypherReader, shown: Policy) -> None:
    """Limit the result of ``labels(n)`` to visible labels."""
    inside = shown.inside
    tests = [f"NOT {_VARIABLE} IN [{quote_text(inside)}]"] if inside is not None else []
    if shown.labels is not None:
        tests.append(f"{_VARIABLE} IN [{', '.join(map(quote_text, sorted(shown.labels)))}]")
    for call in reader.calls:
        if call.name == "labels":
            name = call.opening - 1
            reader.spelled[name] = f"[{_VARIABLE} IN {reader.spelled[name]}"
            reader.spelled[call.end] += f" WHERE {' AND '.join(tests)}]"


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
    """Refuse a whole node, relationship or path as a value: it may have hidden properties."""
    keys = reader.keys
    paired = {
        i for pair in reader.compared if names.issuperset(map(reader.folded, pair)) for i in pair
    }
    safe = {
        call.opening
        for call in reader.calls
        if call.name in reader.words["functions without properties"]
    }
    for i in reader.uses:
        opening = i - 1 - (keys[i - 1] == "DISTINCT")
        is_counted = keys[i + 1] == ")" and opening in safe
        if reader.folded(i) in names and i not in paired and not is_counted:
            raise _whole(reader.texts[i])
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
    for element in reader.elements:
        for i in element.keys:
            _require_not_denied(reader, i, shown)
        denying = frozenset(o for i in element.keys for o in shown.denying(reader.folded(i)))
        names = {reader.folded(i) for i in element.names}
        is_excluded = element.kind == "node" and not reader.ladybug and not names & denying
        if denying and not is_excluded and (names & denying or not names or not element.is_plain):
            raise Refusal(f"a property of {', '.join(sorted(denying))} may not be read here")
    for value, i in reader.properties:
        _require_not_denied(reader, i, shown)
        known = None if value is None else owners.get(reader.folded(value))
        denying = shown.denying(reader.folded(i))
        if value is None or known is None or not denying:
            continue
        name, variable = reader.texts[i], reader.spelled[value]
        if known and known <= denying:
            raise Refusal(f"the property {name} of {', '.join(sorted(known))} may not be read")
        if value != i - 2:
            raise Refusal(
                f".{name} in a map could show a hidden property; write {name}: {variable}.{name} "
                "instead"
            )
        test = f"{variable}:{'|'.join(map(quote_name, sorted(denying)))}"
        if reader.ladybug:
            test = f"lower(label({variable})) IN [{', '.join(map(quote_text, sorted(denying)))}]"
        reader.spelled[value] = f"(CASE WHEN {test} THEN null ELSE {variable}"
        reader.spelled[i] += " END)"


def _require_not_denied(reader: CypherReader, i: int, shown: Policy) -> None:
    if reader.folded(i) in shown.denied_properties:
        raise Refusal(f"the property {reader.texts[i]} may not be read")
