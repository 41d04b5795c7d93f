"""Requests of one decision: within a bound, and those that are independent at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace
from typing import TypeAlias, TypeVar

from dqa.core.recorder import Recorder
from dqa.models.conversation import Conversation

_Told = TypeVar("_Told")

Ask: TypeAlias = Callable[[Conversation], _Told]
"""Asks for one thing in a conversation."""


class Asker:
    """Counts requests, and makes independent ones at once.

    Parameters
    ----------
    conversation
        What is asked in.
    calls
        Most requests.
    parallel
        Most at once.

    Attributes
    ----------
    made
        Requests so far.
    """

    def __init__(self, conversation: Conversation, calls: int, parallel: int) -> None:
        self.conversation = conversation
        self.made = 0
        self._calls = calls
        self._parallel = parallel

    @property
    def left(self) -> int:
        """How many requests may still be made, without the one that is kept for the decision."""
        return max(self._calls - self.made - 1, 0)

    def ask(self, one: Ask[_Told]) -> _Told:
        """Make one request."""
        self.made += 1
        return one(self.conversation)

    def ask_all(self, asks: Sequence[Ask[_Told]]) -> list[_Told]:
        """Make requests that do not need each other's answers; the answers come in their order.

        What they return, and what is recorded of it, is the same however many run at once. What is
        raised is the error of the first that fails, in their order, after those under way ended.
        """
        self.made += len(asks)
        if len(asks) == 1 or self._parallel == 1:
            return [one(self.conversation) for one in asks]
        recorder = self.conversation.recorder
        branches = [Recorder.branch() for _ in asks]
        executor = ThreadPoolExecutor(min(self._parallel, len(asks)), "dqa-bidder")
        begun = [
            # A thread of its own context: who is asking, and what is recorded for it, goes along.
            executor.submit(copy_context().run, one, replace(self.conversation, recorder=branch))
            for one, branch in zip(asks, branches, strict=True)
        ]
        merged = 0
        try:
            told = []
            for future, branch in zip(begun, branches, strict=True):
                told.append(future.result())
                recorder.merge(branch)
                merged += 1
        except Exception:
            executor.shutdown(cancel_futures=True)
            for branch in branches[merged:]:
                recorder.merge(branch)
            raise
        finally:
            executor.shutdown(wait=False, cancel_futures=True)
        return told
