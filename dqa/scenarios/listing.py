"""What a column or a statement lists, as what can be chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, cast

from dqa.core.errors import DataError
from dqa.core.question import Candidate
from dqa.core.situation import Cell, ColumnType, Table
from dqa.scenarios.document import Listing
from dqa.scenarios.parameters import LIST_SEPARATOR

Lister: TypeAlias = Callable[[Listing, Mapping[str, str]], Sequence[Cell]]
"""Gives what a listing lists for a target, wherever the data are."""


def candidate_of(cell: Cell, wanted: ColumnType | None, scenario: str) -> Candidate:
    """Return what was listed as a candidate is: text, or a whole number.

    Parameters
    ----------
    cell
        What was listed.
    wanted
        What candidates are, where their scenario says it.
    scenario
        What errors call it.

    Raises
    ------
    DataError
        It is neither.
    """
    if wanted == "text" and cell is not None:
        return str(cell)
    is_whole = isinstance(cell, int) and not isinstance(cell, bool)
    if is_whole or (isinstance(cell, str) and wanted is None):
        return cast("Candidate", cell)
    needed = "a whole number" if wanted == "integer" else "text or a whole number"
    raise DataError(
        f"The candidates of scenario '{scenario}' hold {cell!r}, which is not {needed}."
    )


def listed_in(
    names: Sequence[Candidate], target: Mapping[str, str], key: str
) -> tuple[Candidate, ...]:
    """Return the names that ``target[key]`` lists, in table order; all where it lists none.

    Parameters
    ----------
    names
        The names there are.
    target, key
        Of a question, and which of its values is the list.

    Raises
    ------
    DataError
        The target lists a name that is not there.
    """
    if key not in target:
        return tuple(names)
    wanted = target[key].split(LIST_SEPARATOR)
    there = {str(name) for name in names}
    unknown = [name for name in wanted if name not in there]
    if unknown:
        raise DataError(
            f"'{unknown[0]}' is listed to choose from, but the situation does not hold it."
        )
    return tuple(name for name in names if str(name) in set(wanted))


PLAIN_TYPES: Mapping[ColumnType | None, Sequence[set[type]]] = {
    None: ({str}, {int}),
    "text": ({str},),
    "integer": ({int},),
}
"""By the declared type, the Python types of a list whose cells are candidates as they are."""


def column_values(listing: Listing, table: Table, target: Mapping[str, str]) -> Sequence[Cell]:
    """Return the values of a listing's column in the rows that it keeps, in the table's order.

    Raises
    ------
    DataError
        The target does not tell what the rows are chosen by.
    """
    values: list[Cell] = table[listing.column or ""].tolist()
    for column, parameter in listing.where.items():
        if parameter not in target:
            raise DataError(
                f"The target does not tell '{parameter}', by which rows of '{table.schema.name}' "
                f"are chosen; it tells {', '.join(target) or 'nothing'}."
            )
        # A target is text whatever the column holds.
        kept = [str(cell) == target[parameter] for cell in table[column].tolist()]
        values = [value for value, keeps in zip(values, kept, strict=True) if keeps]
    return values
