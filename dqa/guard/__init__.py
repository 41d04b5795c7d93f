"""Before a database runs a statement, check that the statement only reads data.

The guard parses a statement in the dialect of the database and allows only constructs that are
known to read. It refuses everything else, with a reason that helps to write a better statement. As
a second protection, every backend opens a read-only session. `GuardedDatabase` combines both
protections. Every database is opened as a `GuardedDatabase`, so no unchecked statement reaches a
driver.
"""

from __future__ import annotations

from dqa.guard.audit import Audit, AuditEntry
from dqa.guard.check import DIALECTS, GuardVerdict, ScriptStatement, check, require, split
from dqa.guard.database import GuardedDatabase
from dqa.guard.policy import DEFAULT, Policy

__all__ = [
    "DEFAULT",
    "DIALECTS",
    "Audit",
    "AuditEntry",
    "GuardVerdict",
    "GuardedDatabase",
    "Policy",
    "ScriptStatement",
    "check",
    "require",
    "split",
]
