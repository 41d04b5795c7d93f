"""The server of ``dqa view``: what it answers to whom, and the page while a run goes on."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import dqa
from dqa.api.measuring import find_questions
from dqa.evaluation.location import locate_run
from dqa.evaluation.store import RunStore
from tests.programs import start_python

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@dataclass
class Growing:
    """A run of which only the first question is decided, and that goes on when it is told to."""

    place: str
    whole: dqa.Run
    store: RunStore
    made: int = 0

    def decide(self, questions: int) -> None:
        """Keep the decisions on so many questions."""
        asked = list(dict.fromkeys(result.question for result in self.whole.results))[:questions]
        traces = {trace.key: trace for trace in self.whole.traces}
        kept = [result for result in self.whole.results if result.question in asked]
        for result in kept[self.made :]:
            self.store.add(result, traces[result.key])
        self.made = len(kept)


@pytest.fixture
def growing(request: pytest.FixtureRequest, run_folder: Path, tmp_path: Path) -> Iterator[Growing]:
    """In a folder, or where the test says."""
    place = f"{tmp_path}/{getattr(request, 'param', 'growing')}"
    whole = dqa.read_run(run_folder)
    assert whole.record is not None
    store = RunStore(locate_run(place), whole.record)
    found = Growing(place, whole, store)
    found.decide(1)
    yield found
    store.close()


@pytest.fixture
def server(growing: Growing) -> Iterator[dqa.ReportServer]:
    """A server of that run."""
    with dqa.ReportServer([growing.place]) as made:
        yield made


def _ask(server: dqa.ReportServer, path: str, host: str | None = None) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    connection.request("GET", path, headers={"Host": host or f"127.0.0.1:{server.port}"})
    answer = connection.getresponse()
    found = answer.status, answer.read().decode()
    connection.close()
    return found


def test_only_this_machine_is_answered(server: dqa.ReportServer) -> None:
    """A page of another site that names this address as its own reads nothing."""
    for host in ("evil.example", f"evil.example:{server.port}", "127.0.0.1", "localhost:1"):
        assert _ask(server, "/report", host)[0] == 403
    assert _ask(server, "/report", f"localhost:{server.port}")[0] == 200
    assert _ask(server, "/../etc/passwd")[0] == 404
    assert _ask(server, "/question?id=none/1")[0] == 404


@pytest.mark.parametrize("growing", ["growing", "runs.db#growing"], indirect=True)
def test_it_tells_the_figures_and_the_details_of_a_run(
    server: dqa.ReportServer, growing: Growing
) -> None:
    """What it answers is what the page of a file holds."""
    told = json.loads(_ask(server, "/report")[1])["report"]
    assert told["totals"] == dqa.read_report(growing.place).to_json()["totals"]
    (question,) = told["questions"]
    details = json.loads(_ask(server, f"/question?id={question['id']}")[1])
    assert list(details["traces"]) == [str(n) for n in range(len(question["decisions"]))]
    assert "connect-src 'self'" in _ask(server, "/")[1]


def test_figures_go_on_while_the_questions_are_read(
    growing: Growing, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody waits for pictures: they come when what was asked is there, and the page is told."""
    may_read = threading.Event()

    def find_slowly(*given: Any) -> Any:
        assert may_read.wait(30)
        return find_questions(*given)

    monkeypatch.setattr("dqa.api.reporting.find_questions", find_slowly)
    monkeypatch.setattr("dqa.api.reporting._LEAST", 0.0)
    with dqa.ReportServer([growing.place]) as server:
        first = _told_until(server, lambda told: len(told["questions"]) == 1)
        growing.decide(3)
        later = _told_until(server, lambda told: len(told["questions"]) == 3)
        assert "being read" in first["pictures"]
        assert later["questions"][0]["text"] is None
        may_read.set()
        whole = _told_until(server, lambda told: told["pictures"] is None)
        assert all(one["text"] for one in whole["questions"])
        assert len({told["stamp"] for told in (first, later, whole)}) == 3


def _told_until(server: dqa.ReportServer, fits: Callable[[Any], bool]) -> Any:
    """Return the first report that fits, asked for as the page asks."""
    for _ in range(500):
        told = json.loads(_ask(server, "/report")[1])["report"]
        if fits(told):
            return told
        time.sleep(0.02)
    raise AssertionError(told["pictures"])


@pytest.mark.slow
@pytest.mark.parametrize("growing", ["runs.db#growing"], indirect=True)
def test_the_page_follows_a_run_and_keeps_what_is_open(
    server: dqa.ReportServer, growing: Growing, browser: Browser
) -> None:
    """Decisions appear as they are made, while a reader reads."""
    tab = browser.new_page()
    tab.goto(server.url)
    tab.wait_for_selector("body[data-ready=yes]")
    assert tab.locator("tr.question").count() == 1
    tab.locator(".opener").first.click()
    tab.wait_for_selector("details.decision")
    tab.locator("details.decision summary").first.click()
    tab.wait_for_selector("details.decision[open] .passage")
    growing.decide(3)
    tab.locator("tr.question").nth(2).wait_for()
    tab.wait_for_selector("details.decision[open] .passage")
    assert tab.locator("details.decision[open]").count() == 1
    tab.close()


@pytest.mark.slow
def test_ctrl_c_ends_it_while_a_browser_is_connected(run_folder: Path) -> None:
    """Like any other command that is interrupted, and without a word of who was connected."""
    with start_python("-m", "dqa", "view", str(run_folder)) as process:
        try:
            assert process.stdout is not None
            port = re.search(r"127\.0\.0\.1:(\d+)", process.stdout.readline())
            assert port is not None, process.communicate()
            kept_open = http.client.HTTPConnection("127.0.0.1", int(port[1]), timeout=30)
            kept_open.request("GET", "/report")
            assert b"totals" in kept_open.getresponse().read()
            with socket.create_connection(("127.0.0.1", int(port[1]))) as gone:
                asked = f"GET /report HTTP/1.1\r\nHost: 127.0.0.1:{port[1]}\r\n\r\n"
                gone.sendall(asked.encode())
                # A browser that is closed resets its connection, with the answer on its way.
                gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            kept_open.request("GET", "/report")
            assert b"totals" in kept_open.getresponse().read()
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
            kept_open.close()
        finally:
            process.kill()
    assert (process.returncode, out, err) == (130, "", "Interrupted.\n")
