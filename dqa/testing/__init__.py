"""What teams test their own decisions with: fixtures for pytest, and what they are made of.

The fixtures (`dqa_ask`, `dqa_database`, `dqa_scripted`, `dqa_recorded`, `dqa_questions`,
`dqa_server`) are there wherever this package is installed; docs/testing.md shows them. What is here
serves tests without pytest as well, and is imported when it is used::

    import dqa
    from dqa.testing import GivenReplies, answer, assert_choice, query

    tables = {"supplier": {"name": ["north", "south"], "price": [3, 2]}}
    with dqa.temporary_database(tables) as shop:
        model = GivenReplies([query("SELECT name FROM supplier ORDER BY price"), answer("south")])
        assert_choice(dqa.ask(shop, "Which supplier is the cheapest?", model=model), "south")
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dqa.models.scripted.given import GivenReplies, Reply, Request
    from dqa.testing.containers import SERVERS, engine_answers, run_container
    from dqa.testing.databases import DatabaseMaker, ServerStarter
    from dqa.testing.decisions import (
        Asker,
        assert_at_most,
        assert_choice,
        assert_ending,
        assert_reads,
    )
    from dqa.testing.models import ModelRecorder, ModelScripter, answer, query
    from dqa.testing.questions import QuestionMaker

__all__ = [
    "SERVERS",
    "Asker",
    "DatabaseMaker",
    "GivenReplies",
    "ModelRecorder",
    "ModelScripter",
    "QuestionMaker",
    "Reply",
    "Request",
    "ServerStarter",
    "answer",
    "assert_at_most",
    "assert_choice",
    "assert_ending",
    "assert_reads",
    "engine_answers",
    "query",
    "run_container",
]

_MODULES = {
    "dqa.models.scripted.given": ("GivenReplies", "Reply", "Request"),
    "dqa.testing.containers": ("SERVERS", "engine_answers", "run_container"),
    "dqa.testing.databases": ("DatabaseMaker", "ServerStarter"),
    "dqa.testing.decisions": (
        "Asker",
        "assert_at_most",
        "assert_choice",
        "assert_ending",
        "assert_reads",
    ),
    "dqa.testing.models": ("ModelRecorder", "ModelScripter", "answer", "query"),
    "dqa.testing.questions": ("QuestionMaker",),
}
_WHERE = {name: module for module, names in _MODULES.items() for name in names}


if not TYPE_CHECKING:  # else any name would be there for type checkers

    def __getattr__(name: str) -> Any:  # noqa: ANN401  (whatever is public)
        if name not in _WHERE:
            raise AttributeError(f"module 'dqa.testing' has no attribute '{name}'")
        return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
