"""Values that a column or a statement lists, as candidates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from dqa.core.errors import DataError
from dqa.core.question import Candidate
from dqa.core.situation import Cell, ColumnType, Table
from dqa.scenarios.document import Listing
from dqa.scenarios.parameters import LIST_SEPARATOR

Lister: TypeAlias = Callable[[Listing, Mapping[str, str]], Sequence[Cell]]
"""Returns the values of a listing for a target."""


def candidate_of(cell: Cell, wanted: ColumnType | None, scenario: str) -> Candidate:
    """Return a listed value as a candidate; `DataError` if it is neither text nor a whole number.

    Parameters
    ----------
    cell
        The value.
    wanted
        The type of candidates that the scenario declares; None for none.
    scenario
        The scenario's name, for errors.
    """
    if wanted == "text" and cell is not None:
        return str(cell)
    if isinstance(cell, int) and not isinstance(cell, bool):
        return cell
    if isinstance(cell, str) and wanted is None:
        return cell
    needed = "a whole number" if wanted == "integer" else "text or a whole number"
    raise DataError(
        f"The candidates of scenario '{scenario}' hold {cell!r}, which is not {needed}."
    )


def listed_in(
    names: Sequence[Candidate], target: Mapping[str, str], key: str
) -> tuple[Candidate, ...]:
    """Return the names that the text ``target[key]`` lists, in the order of `names`.

    Without that text, all names are returned. An unknown name is a `DataError`.
    """
    if key not in target:
        return tuple(names)
    wanted = target[key].split(LIST_SEPARATOR)
    known = {str(name) for name in names}
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise DataError(
            f"'{unknown[0]}' is listed to choose from, but the situation does not hold it."
        )
    return tuple(name for name in names if str(name) in set(wanted))


def column_values(listing: Listing, table: Table, target: Mapping[str, str]) -> Sequence[Cell]:
    """Return the values of a listing's column in the selected rows, in the order of the table.

    A missing parameter is a `DataError`.
    """
    values: list[Cell] = table[listing.column or ""].tolist()
    for column, parameter in listing.where.items():
        if parameter not in target:
            raise DataError(
                f"The target lacks '{parameter}', which selects rows of '{table.schema.name}'; it "
                f"has {', '.join(target) or 'nothing'}."
            )
        # A target is text, whatever the column's type.
        keeps = [str(cell) == target[parameter] for cell in table[column].tolist()]
        values = [value for value, is_kept in zip(values, keeps, strict=True) if is_kept]
    return values
