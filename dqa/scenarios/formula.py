"""Outcomes as a formula over the columns of a row: names, numbers, ``+ - * /`` and brackets.

It is worked out here and not by a database, so every database gives the same values.
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

    _Floats = NDArray[np.float64]

_BINARY: Mapping[type[ast.operator], Callable[[_Floats, _Floats], _Floats]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_UNARY: Mapping[type[ast.unaryop], Callable[[_Floats], _Floats]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}


class Formula:
    """A formula that was read.

    Raises
    ------
    DataError
        The text is none.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        try:
            self._tree = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise DataError(f"'{text}' is no formula; write e.g. 'revenue - cost'") from error
        self.columns = self._names(self._tree)
        """The columns that it names, each once, in the order of the text."""

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
        """Return the formula's value for each of `count` rows; no number where it divides by 0.

        Parameters
        ----------
        columns
            By name, each of shape (count,).
        count
            Rows.
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
