"""What `dqa ask` and `dqa eval` say while they ask and at the end, and of models that fail."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dqa.cli import steps
from dqa.cli.steps import Steps, step_line
from dqa.core.decision import Usage
from dqa.core.events import FaultEvent, RetrievalEvent
from dqa.models.budget import Prices
from tests.models.model_server import ModelServer, Trouble, answering

Command = Callable[..., Any]

RETRIEVE = "Thought: look\nAction: query_database\nAction Input: SELECT name FROM supplier"
ANSWER = "Thought: done\nFinal Answer: Süd"


def test_tokens_and_cost_are_told_at_the_end(dqa: Command, shop: Path) -> None:
    """Cost where prices are given."""
    base: tuple[object, ...] = (
        "ask",
        "--database",
        shop,
        "--question",
        "Which?",
        "--decider",
        "iterrag",
    )
    base += ("--tables", "supplier", "--model", "openai:test")
    with answering(RETRIEVE, ANSWER) as server:
        text = dqa(*base, "--base-url", server.url, "--price-input", 1, "--price-output", 2)
        plain = dqa(*base, "--base-url", server.url, "--json")
    spent = text.out.splitlines()[-1]
    assert spent.startswith("Spent: ")
    assert ", 2 calls; cost 0.0" in spent
    assert text.err == ""  # quiet in a pipe
    assert json.loads(plain.out)["cost"] is None


def test_what_was_replied_is_a_command_away_where_there_is_no_answer(
    dqa: Command, shop: Path, tmp_path: Path
) -> None:
    """Replies that nobody can read are in the trace."""
    base: tuple[object, ...] = ("ask", "--database", shop, "--question", "Which?")
    base += ("--tables", "supplier", "--decider", "iterrag", "--model", "openai:test", "--base-url")
    with answering(*["nonsense"] * 6) as server:
        plain = dqa(*base, server.url)
        kept = dqa(*base, server.url, "--trace", tmp_path / "trace.json")
    assert plain.code == kept.code == 1
    assert "ask again with --trace FILE; 'dqa trace FILE' shows it." in plain.err
    assert kept.err == ""
    assert "nonsense" in dqa("trace", tmp_path / "trace.json").out


def test_a_program_that_knows_no_such_database_is_one_sentence(dqa: Command, shop: Path) -> None:
    """Without the names that the agent's own loop has for its steps."""
    ran = dqa("ask", "--database", shop, "--question", "Which?", "--model", "scripted:analyst")
    assert (ran.code, ran.out) == (2, "")
    assert "name a language model with --model" in ran.err
    assert "During task" not in ran.err


def test_the_steps_are_shown_on_a_terminal(
    dqa: Command, shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line a statement, with what it returned in a word, and tokens and cost so far."""
    monkeypatch.setattr(type(sys.stderr), "isatty", lambda _: True, raising=False)
    refused = RETRIEVE.replace("SELECT name FROM supplier", "DROP TABLE supplier")
    with answering(refused, RETRIEVE, ANSWER) as server:
        ran = dqa(
            *("ask", "--database", shop, "--question", "Which?", "--decider", "iterrag"),
            *("--tables", "supplier", "--row-limit", 1, "--price-input", 1, "--price-output", 2),
            *("--model", "openai:test", "--base-url", server.url),
        )
    lines = [line for line in ran.err.splitlines() if "->" in line]
    assert "Step 1: DROP TABLE supplier -> refused  (" in lines[0]
    assert "-> 1 row of 2, cut by the limit on rows  (" in lines[1]
    assert " tokens, cost 0.0" in lines[1]


def test_a_retry_says_why_and_when_the_next_is() -> None:
    """A line a failed attempt."""
    fault = FaultEvent(step=2, fault="server", error="X", message="HTTP 500", attempt=1, wait=2.0)
    assert step_line(fault) == "Step 2: attempt 1 failed, asked again in 2.0 s: HTTP 500"
    shown = RetrievalEvent(step=1, statement="SELECT\n 1", observation="", tool="query_database")
    assert step_line(shown) == "Step 1: SELECT 1 -> 0 rows"
    with Steps(Prices(1.0, 1.0)) as quiet:
        quiet.asking(1)
        quiet.happened(fault, Usage())
    assert steps._LONGEST > 0


@pytest.mark.parametrize("command", ["ask", "eval"])
def test_a_model_that_nobody_serves_is_named_at_once(
    dqa: Command, shop: Path, command: str
) -> None:
    """By its URL, with what is wrong and how to mend it, before anything is asked."""
    with answering(ANSWER) as server:
        gone = server.url
    given: tuple[object, ...] = (
        "--generate",
        1,
        "--scenarios",
        "building",
        "--databases",
        "sqlite",
    )
    if command == "ask":
        given = ("--database", shop, "--question", "?")
    for url, words in (
        (gone, "connection refused: nothing listens there; start the server"),
        ("http://no-such-host.invalid/v1", "no such host"),
    ):
        ran = dqa(command, *given, "--model", "openai:test", "--base-url", url)
        assert (ran.code, ran.out) == (1, "")
        assert f"openai:test cannot be reached at {url}" in ran.err
        assert words in ran.err
    ran = dqa(command, *given, "--model", "openai:test", "--base-url", "localhost:8000/v1")
    assert ran.code == 2
    assert "--base-url http://localhost:8000/v1" in ran.err


@pytest.mark.parametrize(
    ("trouble", "words"),
    [(Trouble.BAD_KEY, "refuses the key"), (Trouble.UNKNOWN_MODEL, "knows no such model")],
)
def test_what_a_server_refuses_is_told_apart_with_its_address(
    dqa: Command, shop: Path, trouble: Trouble, words: str
) -> None:
    """A wrong key and a wrong model have nothing in common but the place."""
    server = ModelServer(lambda _: ANSWER, plan=lambda _request, _before: trouble)
    with server:
        ran = dqa(
            *("ask", "--database", shop, "--question", "?", "--tables", "supplier"),
            *("--model", "openai:test", "--base-url", server.url),
        )
    assert ran.code == 2
    assert words in ran.err
    assert f"{server.url}/chat/completions" in ran.err


def test_the_first_failure_of_a_run_is_said_at_once(dqa: Command) -> None:
    """Once a kind, with when it is asked again; the rest is in the traces."""
    server = ModelServer(
        lambda _: ANSWER,
        plan=lambda _request, before: Trouble.RATE_LIMIT_SECONDS if before < 1 else None,
        retry_after=0.1,
    )
    with server:
        ran = dqa(
            *("eval", "--generate", 1, "--scenarios", "building", "--databases", "sqlite"),
            *("--deciders", "iterrag", "--model", "openai:test", "--base-url", server.url),
            *("--max-steps", 2),
        )
    told = [line for line in ran.err.splitlines() if "attempt 1 failed, asked again in" in line]
    assert len(told) == 1
