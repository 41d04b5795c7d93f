"""Variables with a separate value in each thread and in each copied context (`contextvars`)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Generic, TypeVar

_Value = TypeVar("_Value")


class ContextValue(Generic[_Value]):
    """A variable with a separate value in each context.

    Parameters
    ----------
    name
        The name of the variable.
    default
        The value in contexts in which no value has been set.
    """

    def __init__(self, name: str, default: _Value) -> None:
        self._variable = ContextVar(name, default=default)
        self.get = self._variable.get

    @contextmanager
    def use(self, value: _Value) -> Iterator[None]:
        """Set the value in the current context, and restore the old value when the block ends."""
        token = self._variable.set(value)
        try:
            yield
        finally:
            self._variable.reset(token)
