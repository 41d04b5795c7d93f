"""What a worker says has the shape of what it was asked for, or it is a worker no more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import is_dataclass
from functools import cache
from operator import attrgetter
from types import UnionType
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

from dqa.databases.isolation.wire import ClosedError

_Look: TypeAlias = Callable[[Any], bool]
"""Whether a value has a shape."""


def unpack(told: object, kind: Any) -> Any:  # noqa: ANN401  (an object of that class)
    """Return an object of a class with fields, made of a tuple of their values.

    Raises
    ------
    ClosedError
        These are not the values of such fields.
    """
    values: tuple[Any, ...] = _require(told, _look_for_tuple(tuple(get_type_hints(kind).values())))
    return kind(*values)


def require(told: object, kind: Any) -> Any:  # noqa: ANN401  (what was told)
    """Return what was told; `ClosedError` unless it is what an annotation says."""
    return _require(told, _look_for(kind))


def _require(told: object, look: _Look) -> Any:  # noqa: ANN401
    try:
        if look(told):
            return told
    except AttributeError:  # a field that was never set
        pass
    raise ClosedError


@cache
def _look_for(kind: Any) -> _Look:  # noqa: ANN401
    """Return what looks at values: of a class, or of a tuple, a union or a literal of such."""
    origin, parts = get_origin(kind), get_args(kind)
    if kind is Any:
        return lambda _: True
    if origin is Literal:
        return parts.__contains__
    if origin in {Union, UnionType}:
        looks = [_look_for(part) for part in parts]
        return lambda value: any(look(value) for look in looks)
    if origin is tuple:
        return _look_for_tuple(parts)
    if is_dataclass(kind):
        return _look_for_fields(kind)
    return lambda value: type(value) is kind


def _look_for_tuple(parts: tuple[Any, ...]) -> _Look:
    if parts[-1] is Ellipsis:
        each = _look_for(parts[0])
        return lambda value: type(value) is tuple and all(map(each, value))
    looks = [_look_for(part) for part in parts]
    return lambda value: (
        type(value) is tuple
        and len(value) == len(looks)
        and all(look(part) for look, part in zip(looks, value, strict=True))
    )


def _look_for_fields(kind: Any) -> _Look:  # noqa: ANN401
    hints = get_type_hints(kind)
    values, look = attrgetter(*hints), _look_for_tuple(tuple(hints.values()))
    return lambda value: type(value) is kind and look(values(value))
