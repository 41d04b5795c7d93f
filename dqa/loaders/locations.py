"""Names, locations and passwords of databases.

A stored location has no password. An environment variable contains the URL with the password:
``DQA_SALES_URL`` for the database ``sales``, or ``DQA_MYSQL_URL`` for any MySQL database.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from dqa import plugins
from dqa.core.errors import UsageError
from dqa.core.secrets import redact

_NAMED = re.compile(r"([A-Za-z_][\w-]*)=(.+)", re.DOTALL)


def configured() -> dict[str, str]:
    """Return the URLs of servers from environment variables, by backend."""
    urls = {name: os.environ.get(variable_of(name), "") for name in plugins.names("database")}
    return {name: url for name, url in urls.items() if url}


def variable_of(name: str) -> str:
    """Return the name of the environment variable for the URL of a backend or a named database."""
    return f"DQA_{re.sub(r'[^A-Za-z0-9]', '_', name).upper()}_URL"


def whole_url(location: str, name: str | None = None) -> str:
    """Return a location with its password from the environment.

    Parameters
    ----------
    location
        A URL, with or without its password, or a file.
    name
        The name of the database; None if it has no name.

    Raises
    ------
    UsageError
        The password is missing in the location and in the environment.
    """
    if "***" not in location:
        return location
    names = [*filter(None, [name]), plugins.backend_for(location).name]
    variables = list(dict.fromkeys(map(variable_of, names)))
    problems: list[str] = []
    for variable in variables:
        whole = os.environ.get(variable, "")
        if redact(whole) == location:
            return whole
        problems.append(f"{variable} {f'is {redact(whole)}' if whole else 'is not set'}")
    raise UsageError(
        f"The password in the URL {location} is masked (***), and {' and '.join(problems)}: put "
        f"the full URL into {variables[0]}, or give it with --databases or --database NAME=URL."
    )


def located(
    databases: str | Path | Iterable[str | Path] | Mapping[str, str | Path],
) -> dict[str, str]:
    """Return the locations of databases by name. Paths are made absolute.

    Parameters
    ----------
    databases
        A location, several locations, or locations by name. A location may be ``NAME=URL``.

    Raises
    ------
    UsageError
        Two databases have the same name.
    """
    if isinstance(databases, Mapping):
        pairs = [(name, str(location)) for name, location in databases.items()]
    else:
        listed = [databases] if isinstance(databases, str | Path) else databases
        split = [(str(one), split_name(str(one))) for one in listed]
        pairs = [(named[0] or name_of(text), named[1]) for text, named in split]
    found: dict[str, str] = {}
    for name, location in pairs:
        if name in found:
            raise UsageError(
                f"Two databases have the name '{name}': give each a name with NAME=URL "
                "(--database)."
            )
        found[name] = location if "://" in location else str(Path(location).absolute())
    return found


def split_name(text: str) -> tuple[str | None, str]:
    """Split ``NAME=URL`` into the name and the location. Without ``NAME=``, the name is None."""
    found = None if Path(text).exists() else _NAMED.fullmatch(text)
    return (None, text) if found is None else (found[1], found[2])


def name_of(location: str) -> str:
    """Return the default name of a database: the name of its file, or the last part of its URL."""
    if "://" not in location:
        word = Path(location).stem
    else:
        parts = urlsplit(location)
        word = Path(parts.path).stem or parts.scheme.partition("+")[0]
    return re.sub(r"[^\w-]+", "_", word).strip("_") or "database"
