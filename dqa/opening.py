"""Opening any database by its location alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dqa import plugins
from dqa.core.database import DEFAULT_LIMITS, Database, Limits

if TYPE_CHECKING:
    from dqa.guard import Audit, Policy

__all__ = ["open_database", "read_audit", "read_policy"]


def open_database(
    location: str | Path,
    *,
    limits: Limits = DEFAULT_LIMITS,
    policy: Policy | str | Path | None = None,
    audit: Audit | str | Path | None = None,
) -> Database:
    """Open a database read-only, behind the guard.

    Parameters
    ----------
    location
        A file's path, or a URL such as ``postgresql://user:password@host/database``.
    limits
        What a statement may cost whose caller does not say.
    policy
        What of the database may be called and read, or a JSON file that says so; everything, if
        None.
    audit
        Who watches its statements, or a file to which each is appended as a JSON line; nobody, if
        None.

    Returns
    -------
    Database
        To be closed when it is no longer needed.

    Raises
    ------
    MissingKeyError
        The driver is not installed.
    UsageError
        No backend opens the location, nothing is there, or the policy or the audit file is wrong.
    DataError
        The file is damaged.
    DatabaseUnavailableError
        The server cannot be reached.
    """
    where = str(location)
    return plugins.backend_for(where).open(
        where, policy=read_policy(policy), audit=read_audit(audit), limits=limits
    )


def read_policy(policy: Policy | str | Path | None) -> Policy | None:
    """Return a policy as it is, or as a file has it; see `dqa.guard.Policy.read`."""
    from dqa.guard import Policy

    return Policy.read(Path(policy)) if isinstance(policy, str | Path) else policy


def read_audit(audit: Audit | str | Path | None) -> Audit | None:
    """Return an audit as it is, or one that appends to a file; see `dqa.guard.Audit.to_file`."""
    from dqa.guard import Audit

    return Audit.to_file(audit) if isinstance(audit, str | Path) else audit
