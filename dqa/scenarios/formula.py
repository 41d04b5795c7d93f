"""Outcomes as a formula over the columns of a row: names, numbers, ``+ - * /`` and brackets.

For a situation in memory it is computed here; for a live database it is part of a statement. All
its numbers are doubles, so every database returns the same values.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from dqa.core.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dqa.scenarios.tables import LiveTable

    _Floats = NDArray[np.float64]

_BINARY: Mapping[type[ast.operator], Callable[[_Floats, _Floats], _Floats]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_SIGNS: Mapping[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.USub: "-",
    ast.UAdd: "+",
}
_UNARY: Mapping[type[ast.unaryop], Callable[[_Floats], _Floats]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}


class Formula:
    """A parsed formula.

    Raises
    ------
    DataError
        The text is not a formula.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        try:
            self._tree = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise DataError(f"'{text}' is not a formula; write e.g. 'revenue - cost'") from error
        self.columns = self._names(self._tree)
        """The different columns of the formula, in the order of the text."""

    def _names(self, tree: ast.AST) -> tuple[str, ...]:
        match tree:
            case ast.BinOp(left, op, right) if type(op) in _BINARY:
                return tuple(dict.fromkeys((*self._names(left), *self._names(right))))
            case ast.UnaryOp(op, operand) if type(op) in _UNARY:
                return self._names(operand)
            case ast.Name(name):
                return (name,)
            case ast.Constant(value) if type(value) in (int, float):
                return ()
        raise DataError(
            f"the formula '{self.text}' has more than columns, numbers, + - * / and brackets; "
            'write the outcome as a query instead (source = "query")'
        )

    def values(self, columns: Mapping[str, _Floats], count: int) -> _Floats:
        """Return the formula's value for each of `count` rows; NaN or infinity for a division by 0.

        Parameters
        ----------
        columns
            By name, each of shape (count,).
        count
            The number of rows.
        """
        import numpy as np

        with np.errstate(all="ignore"):
            return np.broadcast_to(self._value(self._tree, columns), (count,)).astype(np.float64)

    def _value(self, tree: ast.AST, columns: Mapping[str, _Floats]) -> _Floats:
        import numpy as np

        match tree:
            case ast.BinOp(left, op, right):
                return _BINARY[type(op)](self._value(left, columns), self._value(right, columns))
            case ast.UnaryOp(op, operand):
                return _UNARY[type(op)](self._value(operand, columns))
            case ast.Name(name):
                return np.asarray(columns[name], np.float64)
            case ast.Constant(int() | float() as number):
                return np.asarray(number, np.float64)
        raise AssertionError(f"the constructor lets no {tree!r} through")

    def expression(self, table: LiveTable) -> str:
        """Return the formula as an expression over a live table; NULL for a division by 0.

        Raises
        ------
        DataError
            A graph has no property for a column.
        """
        return self._spelled(self._tree, table)

    def _spelled(self, tree: ast.AST, table: LiveTable) -> str:
        match tree:
            case ast.BinOp(left, ast.Div(), right):
                return table.divided(self._spelled(left, table), self._spelled(right, table))
            case ast.BinOp(left, op, right):
                sides = self._spelled(left, table), self._spelled(right, table)
                return f"({f' {_SIGNS[type(op)]} '.join(sides)})"
            case ast.UnaryOp(op, operand):
                return f"({_SIGNS[type(op)]} {self._spelled(operand, table)})"
            case ast.Name(name):
                return table.number(name)
            case ast.Constant(int() | float() as number):
                return table.constant(float(number))
        raise AssertionError(f"the constructor lets no {tree!r} through")
