"""Conversion of values into JSON values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from math import isfinite
from typing import Any


def plain(value: Any, text: Callable[[str], str] = str) -> Any:  # noqa: ANN401  (any value)
    """Convert records and values into JSON values. NaN and infinities become null.

    Parameters
    ----------
    value
        Records, dataclasses, mappings, sequences and plain values.
    text
        Function that is applied to each text, to escape it.
    """
    if value is None or isinstance(value, int):
        return value
    if isinstance(value, str):
        return text(value)
    if isinstance(value, float):
        return value if isfinite(value) else None
    if hasattr(value, "to_json"):
        value = value.to_json()
    elif is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item, text) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [plain(item, text) for item in value]
    return value
