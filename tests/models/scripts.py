"""A model that never gives the same reply twice."""

from __future__ import annotations

import json
import random
import threading
import time
from typing import Any


class Moody:
    """A program that never says the same again, soon or late: as a model at a high temperature.

    It suits agents that talk in labelled text, and deciders that want a decision in JSON.
    """

    def __init__(self, latest: float = 0.02) -> None:
        self.said = 0
        self._latest = latest
        self._draw = random.Random(1)  # noqa: S311
        self._lock = threading.Lock()

    def __call__(self, request: dict[str, Any]) -> str:
        """Answer a request of a `ModelServer`."""
        return self.reply(str(request["messages"][-1]["content"]))

    def reply(self, text: str) -> str:
        """Answer a message; no two answers are alike."""
        with self._lock:
            self.said += 1
            said, choice = self.said, self._draw.randint(1, 6)
            reads, wait = self._draw.random() < 0.5, self._draw.random() * self._latest
        time.sleep(wait)
        if '{"decision"' in text:
            # One of the first two actions, which every problem has.
            return json.dumps({"decision": str(choice % 2 + 1), "explanation": f"mood {said}"})
        if reads:
            return f"Thought: mood {said}\nAction: query_database\nAction Input: SELECT {said}"
        return f"Thought: mood {said}\nFinal Answer: {choice}"
