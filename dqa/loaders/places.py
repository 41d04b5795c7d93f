"""Names, locations and passwords of databases; passwords are never written.

A location that was written without its password is made whole from the environment:
``DQA_SALES_URL`` for the database that is called ``sales``, ``DQA_MYSQL_URL`` for any on MySQL.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit

from dqa import plugins
from dqa.core.errors import UsageError
from dqa.core.secrets import redact

_NAMED = re.compile(r"([A-Za-z_][\w-]*)=(.+)", re.DOTALL)


def variable_of(name: str) -> str:
    """Return the environment variable that holds the URL of a backend, or of a named database."""
    return f"DQA_{re.sub(r'[^A-Za-z0-9]', '_', name).upper()}_URL"


def whole_url(location: str, name: str | None = None) -> str:
    """Return a location with its password, which is never written, from the environment.

    Parameters
    ----------
    location
        A URL, perhaps without its password, or a file.
    name
        What its user calls the database; None where it has no name.

    Raises
    ------
    UsageError
        The password is left out, and the environment does not give the URL with it.
    """
    if "***" not in location:
        return location
    variables = [variable_of(plugins.backend_for(location).name)]
    if name is not None:
        variables.insert(0, variable_of(name))
    given = {variable: os.environ.get(variable, "") for variable in dict.fromkeys(variables)}
    for whole in given.values():
        if redact(whole) == location:
            return whole
    problem = " and ".join(
        f"{variable} holds {redact(whole)}" if whole else f"{variable} is not set"
        for variable, whole in given.items()
    )
    raise UsageError(
        f"{location} was written without its password, and {problem}: set {variables[0]} to the "
        "whole URL, or give that in its place (--databases, or --database NAME=URL)."
    )


def places_in(given: Iterable[str | Path]) -> dict[str, str]:
    """Return databases by name, from ``NAME=URL``, or a URL or file that names itself.

    Raises
    ------
    UsageError
        Two have the same name.
    """
    found: dict[str, str] = {}
    for one in map(str, given):
        told = None if Path(one).exists() else _NAMED.fullmatch(one)
        name, location = (name_of(one), one) if told is None else (told[1], told[2])
        if name in found:
            raise UsageError(
                f"Two databases are called '{name}': tell them apart as NAME=URL (--database)."
            )
        found[name] = location
    return found


def name_of(location: str) -> str:
    """Return the default name of a database: its file, or the last word of its URL."""
    if "://" not in location:
        word = Path(location).stem
    else:
        parts = urlsplit(location)
        word = Path(parts.path).stem or parts.scheme.partition("+")[0]
    return re.sub(r"[^\w-]+", "_", word).strip("_") or "database"


def settled(location: str) -> str:
    """Return a location that another process finds, wherever it is started."""
    return location if "://" in location else str(Path(location).absolute())
