"""The package name, the installed versions, and the commands that start and install dqa."""

from __future__ import annotations

import json
import os
import shlex
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, version
from urllib.parse import unquote, urlsplit

DISTRIBUTION = "decision-qa"
"""The package name for ``pip install``. Imports and the command use the name ``dqa``."""

_EXPANDED = frozenset('"$`\\!')
"""Characters that a shell interprets inside double quotes."""


@cache
def own_version() -> str:
    """Return the version of dqa."""
    return version(DISTRIBUTION)


def own_command() -> str:
    """Return the command with which this user starts dqa, for hints in messages.

    It is the value of the environment variable ``DQA_COMMAND``, which ``start.py`` sets. The
    default is ``dqa``.
    """
    return os.environ.get("DQA_COMMAND") or "dqa"


def shell_command(*words: str) -> str:
    """Return a dqa command with `words`, quoted so that it can be pasted into a shell.

    A word that needs quotes gets double quotes if possible, because messages put the command in
    single quotes.
    """
    return " ".join((own_command(), *map(_quoted, words)))


def _quoted(word: str) -> str:
    quoted = shlex.quote(word)
    return quoted if quoted == word or set(word) & _EXPANDED else f'"{word}"'


def find_versions(*packages: str) -> dict[str, str]:
    """Return the versions of dqa and of the installed packages among `packages`."""
    found = {"dqa": own_version()}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def install_command(extra: str) -> str:
    """Return the command that installs an extra; ``pip install -e`` if dqa runs from a checkout."""
    origin = json.loads(distribution(DISTRIBUTION).read_text("direct_url.json") or "{}")
    if not origin.get("dir_info", {}).get("editable"):
        return f'pip install "{DISTRIBUTION}[{extra}]"'
    return f'pip install -e "{unquote(urlsplit(origin["url"]).path)}[{extra}]"'
