"""What this package is called where packages are installed from: ``dqa`` is another one there."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

DISTRIBUTION = "decision-qa"
"""What ``pip install`` takes; the import name and the command are ``dqa``."""


def own_version() -> str:
    """Return the version of dqa."""
    return version(DISTRIBUTION)


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
