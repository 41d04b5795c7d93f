"""Read the manifest of a named set.

The module does not import NumPy, so that listing the named sets is fast.
"""

from __future__ import annotations

from typing import Any

from dqa import plugins
from dqa.core.errors import DataError, UsageError
from dqa.core.files import parse_json, read_text

MANIFEST = "manifest.json"


def read_document(name: str) -> Any:  # noqa: ANN401  (any plain value)
    """Return the content of a named set's manifest.

    Raises
    ------
    UnknownNameError
        No package has a set of that name. The error lists the known sets.
    DataError
        The file is missing, or is not JSON.
    """
    path = plugins.question_set(name) / MANIFEST
    try:
        return parse_json(read_text(path))
    except (UsageError, ValueError) as error:
        raise DataError(f"{path} cannot be read: {error}.") from error
