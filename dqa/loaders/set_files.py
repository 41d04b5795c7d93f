"""Read the files of a named set. The module does not import NumPy, so lists of sets are fast."""

from __future__ import annotations

from typing import Any

from dqa import plugins
from dqa.core.errors import DataError, UsageError
from dqa.core.files import parse_json, parse_toml, read_text

PLAN, MANIFEST = "set.toml", "manifest.json"


def read_document(name: str, file: str) -> Any:  # noqa: ANN401  (any plain value)
    """Return the content of a named set's `PLAN` or `MANIFEST`.

    Raises
    ------
    UnknownNameError
        No package has a set of that name. The error lists the known sets.
    DataError
        The file is missing, or is not TOML or JSON.
    """
    path = plugins.question_set(name) / file
    try:
        text = read_text(path)
        return parse_toml(text) if file == PLAN else parse_json(text)
    except (UsageError, ValueError) as error:
        raise DataError(f"{path} cannot be read: {error}.") from error


def summary_of(name: str) -> str:
    """Return the purpose of a named set, in one sentence.

    It raises the errors of `read_document`.
    """
    document = read_document(name, PLAN)
    return str(document.get("summary", ""))
