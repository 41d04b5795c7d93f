"""What this package is called where packages are installed from: ``dqa`` is another one there."""

from __future__ import annotations

import os
import shlex
from importlib.metadata import PackageNotFoundError, version

DISTRIBUTION = "decision-qa"
"""What ``pip install`` takes; the import name and the command are ``dqa``."""

_EXPANDED = frozenset('"$`\\!')
"""What a shell does not leave alone within double quotes."""


def own_version() -> str:
    """Return the version of dqa."""
    return version(DISTRIBUTION)


def own_command() -> str:
    """Return how this user starts the command, for hints that are to be pasted.

    ``DQA_COMMAND`` says it where that is not ``dqa``: ``start.py`` sets it.
    """
    return os.environ.get("DQA_COMMAND") or "dqa"


def shell_command(*words: str) -> str:
    """Return a command of ours as it can be pasted into a shell, even out of single quotes.

    Messages quote commands in these, so words within are quoted in double ones where these do.
    """
    return " ".join((own_command(), *map(_quoted, words)))


def _quoted(word: str) -> str:
    quoted = shlex.quote(word)
    return quoted if quoted == word or set(word) & _EXPANDED else f'"{word}"'


def find_versions(*packages: str) -> dict[str, str]:
    """Return the versions of dqa and of those of the packages that are installed."""
    found = {"dqa": own_version()}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def install_command(extra: str) -> str:
    """Return the command that installs what an extra of this package names."""
    return f'pip install "{DISTRIBUTION}[{extra}]"'
