"""What `dqa ask` and `dqa eval` print during and after their work, and failures of models."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Command
from tests.models.model_server import answering

RETRIEVE = "Thought: look\nAction: query_database\nAction Input: SELECT name FROM supplier"
ANSWER = "Thought: done\nFinal Answer: Süd"


def test_tokens_and_cost_are_told_at_the_end(dqa: Command, shop: Path) -> None:
    """Cost where prices are given."""
    base = ("ask", "--database", shop, "--question", "Which?", "--decider", "iterrag")
    base = (*base, "--tables", "supplier", "--model", "openai:test")  # type: ignore[assignment]
    with answering(RETRIEVE, ANSWER) as server:
        text = dqa(*base, "--base-url", server.url, "--price-input", 1, "--price-output", 2)
        plain = dqa(*base, "--base-url", server.url, "--json")
    spent = text.out.splitlines()[-1]
    assert spent.startswith("Spent: ")
    assert ", 2 calls; cost 0.0" in spent
    assert text.err == ""  # quiet in a pipe
    assert json.loads(plain.out)["cost"] is None


def test_a_model_that_nobody_serves_is_named_at_once(dqa: Command, shop: Path) -> None:
    """By its URL, with what is wrong and how to mend it, before anything is asked."""
    with answering(ANSWER) as server:
        gone = server.url
    asked = ("ask", "--database", shop, "--question", "?", "--model", "openai:test", "--base-url")
    for url, words in (
        (gone, "no server can be reached"),
        ("http://no-such-host.invalid/v1", "no server can be reached"),
    ):
        ran = dqa(*asked, url)
        assert (ran.code, ran.out) == (1, "")
        assert f"openai:test cannot be reached at {url}" in ran.err
        assert words in ran.err
    ran = dqa(*asked, "localhost:8000/v1")
    assert ran.code == 2
    assert "--base-url http://localhost:8000/v1" in ran.err
