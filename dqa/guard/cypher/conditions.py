"""Whether what a policy hides of a graph can be hidden there: asked before anybody reads it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from dqa.core.cypher import quote_name
from dqa.core.errors import UsageError
from dqa.core.schema import NodeInfo
from dqa.guard.cypher.hidden import folded, hidden_of, same
from dqa.guard.cypher.hiding import ELEMENT, rewritten
from dqa.guard.cypher.lexer import NAME, tokens
from dqa.guard.cypher.parsing import parsed
from dqa.guard.policy import Policy
from dqa.guard.reading import read
from dqa.guard.verdict import Refusal

_WRITE = f"write comparisons of its properties with plain values, as {ELEMENT}.region = 'EU'"
_AFTER = (")", "RETURN", "1", "AS", "c", "")
"""What follows a condition that is tried."""


def probes(policy: Policy, dialect: str) -> Iterator[tuple[str, str]]:
    """Yield statements that show, with no node read, that what a policy hides can be hidden.

    Raises
    ------
    UsageError
        A row filter is no condition over the properties of a label.
    """
    nodes = policy.schema.nodes if policy.schema is not None else ()
    edges = policy.schema.edges if policy.schema is not None else ()
    fold = dialect == "ladybug"
    hidden = hidden_of(policy, fold=fold)
    for name, condition in policy.row_filters.items():
        for node in nodes:
            if same(node.label, name, fold=fold):
                _require_condition(node, condition, dialect, policy)
        if any(same(edge.label, name, fold=fold) for edge in edges):
            raise UsageError(
                f"The policy's row_filters has {name}, a relationship type, and may have labels: "
                "filter the nodes that it joins."
            )
    for node in nodes:
        masked = [
            field.name
            for field in node.properties
            if folded(node.label, fold=fold) in hidden.masks.get(folded(field.name, fold=fold), {})
        ]
        known = hidden.filters.get(folded(node.label, fold=fold))
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
        read_at = {begin for begin, _, _ in facts.dotted.values()}
        names = {folded(field.name, fold=fold) for field in node.properties}
        other = [name for _, name in facts.reads if folded(name, fold=fold) not in names]
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
