"""The guard: a statement runs only if it is one single statement that reads.

This is the first of two lines. It parses a statement in its own dialect and allows known reading
constructs only. It refuses everything else, with a reason that helps to write a better statement.
The second line is the read-only session that every backend opens. `GuardedDatabase` joins both:
every database is opened as one, and there is no other way to a driver.
"""

from __future__ import annotations

from dqa.guard.audit import Audit, AuditEntry
from dqa.guard.check import (
    DIALECTS,
    GuardVerdict,
    ScriptStatement,
    check,
    require,
    split,
)
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
