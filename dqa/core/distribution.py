"""What this package is called where packages are installed from: ``dqa`` is another one there."""

from __future__ import annotations

import os
from importlib.metadata import PackageNotFoundError, version

DISTRIBUTION = "decision-qa"
"""What ``pip install`` takes; the import name and the command are ``dqa``."""


def own_version() -> str:
    """Return the version of dqa."""
    return version(DISTRIBUTION)


def own_command() -> str:
    """Return how this user starts the command, for hints that are to be pasted.

    ``DQA_COMMAND`` says it where that is not ``dqa``: ``start.py`` sets it.
    """
    return os.environ.get("DQA_COMMAND") or "dqa"


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
