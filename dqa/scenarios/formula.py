"""Outcomes as a formula over the columns of a row: names, numbers, ``+ - * /`` and brackets.

It is part of a statement whose numbers are doubles, so every database returns the same values.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from dqa.core.errors import DataError
from dqa.scenarios.tables import LiveTable

_SIGNS: Mapping[type[ast.AST], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_UNARY: Mapping[type[ast.AST], str] = {ast.USub: "-", ast.UAdd: "+"}


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
            case ast.BinOp(left, op, right) if type(op) in _SIGNS:
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
                return f"({_UNARY[type(op)]} {self._spelled(operand, table)})"
            case ast.Name(name):
                return table.number(name)
            case ast.Constant(int() | float() as number):
                return table.constant(float(number))
        raise AssertionError(f"the constructor lets no {tree!r} through")
