"""The guard: a statement runs only if it is one single statement that reads.

This is the first of two lines. It parses a statement in its own dialect and allows what it knows
to read; what it does not know it refuses, with a reason that helps to write a better statement.
The second line is the read-only session that every backend opens.
"""

from __future__ import annotations

from dqa.guard.check import DIALECTS, check, require
from dqa.guard.policy import DEFAULT, Policy
from dqa.guard.verdict import Verdict

__all__ = ["DEFAULT", "DIALECTS", "Policy", "Verdict", "check", "require"]
