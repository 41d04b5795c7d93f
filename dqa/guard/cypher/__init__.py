"""The guard for Cypher, of Neo4j 5 and of LadybugDB.

A lexer of one regular expression and a recursive-descent parser read the part of Cypher that reads
data; whatever is not in that part cannot be parsed, and so cannot run. They are written by hand
because no grammar for Python knows Neo4j 5, because the parsers that are generated from the
servers' own grammars take milliseconds where these take microseconds, and because a guard needs a
small language, not a complete one: every rule here was added on purpose. Names may be spelled like
keywords wherever the servers let them be; strings, quoted names and comments are never looked into.
"""

from __future__ import annotations

from dqa.guard.cypher.checking import judge
from dqa.guard.cypher.lexer import spans
from dqa.guard.cypher.parsing import parsed
from dqa.guard.cypher.scope import scoped

__all__ = ["judge", "parsed", "scoped", "spans"]
