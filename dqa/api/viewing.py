"""Viewing: runs as a page that follows them while they go on, served to this machine alone."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from dqa.api.reporting import AnyRun, AskedQuestions, ReportedRuns, read_asked
from dqa.core.errors import DqaError, UsageError
from dqa.report.run_report.page import live_details, live_report, render_live_page

_LEAST = 1.0
"""Seconds for which what was read of a run is told again without another look."""

_OFTEN = 4.0
"""A look at a run that took a second is followed by another only after this many seconds."""

_BEING_READ = "They are being read or generated again, and come by themselves."


class ReportServer:
    """Serves the report of runs at the loopback address, and reads them again as they go on.

    The figures need the results alone and are there at once; what was asked, which pictures need,
    is read or generated meanwhile.

    Only who asks for it by this address or as ``localhost`` is answered: a page of another site
    that a browser has open beside it cannot read it under a name of its own (DNS rebinding).

    Parameters
    ----------
    runs
        At least one, or where they are.
    title
        What the report is called; by default as its runs.
    port
        Where it listens; 0 for any that is free.

    Raises
    ------
    UsageError
        There is no run, or the port is taken.
    """

    def __init__(self, runs: Sequence[AnyRun], title: str | None = None, port: int = 0) -> None:
        self._runs, self._title = list(runs), title
        self._reading = threading.Lock()
        self._asked = AskedQuestions((None,) * len(self._runs), _BEING_READ)
        self._known = self._read()
        try:
            self._server = _Server(("127.0.0.1", port), _handler(self))
        except OSError as error:
            raise UsageError(
                f"Port {port} of 127.0.0.1 cannot be listened at ({error.strerror}): name another."
            ) from error
        threading.Thread(target=self._read_asked, daemon=True).start()

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """What to open."""
        return f"http://127.0.0.1:{self.port}/"

    def serve(self) -> None:
        """Answer until `close` is called, or Ctrl-C."""
        with self._server:
            self._server.serve_forever(poll_interval=0.2)

    def close(self) -> None:
        """Stop answering."""
        self._server.shutdown()

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def is_ours(self, host: str | None) -> bool:
        """Whether somebody asks by an address that is this machine's alone."""
        return host in {f"{name}:{self.port}" for name in ("127.0.0.1", "localhost")}

    def page(self) -> bytes:
        """Return the page, which asks for the report itself."""
        return render_live_page(self.runs().report.title).encode()

    def runs(self) -> ReportedRuns:
        """Return the runs as they are by now, or were a moment ago: nobody waits for another."""
        if self._reading.acquire(blocking=False):
            try:
                if self._known.is_old(self._asked):
                    self._known = self._read()
            finally:
                self._reading.release()
        return self._known.runs

    def _read(self) -> _Known:
        began, asked = time.monotonic(), self._asked
        found = ReportedRuns(self._runs, title=self._title, details=True, live=True, asked=asked)
        ended = time.monotonic()
        return _Known(found, asked, ended, ended - began)

    def _read_asked(self) -> None:
        try:
            self._asked = read_asked(self._known.runs.runs, None)
        except DqaError as error:  # such as a run that was removed meanwhile
            self._asked = replace(self._asked, lacking=str(error))


@dataclass(frozen=True)
class _Known:
    """Runs as they were read, with what was known by then of what they asked, when, how long."""

    runs: ReportedRuns
    asked: AskedQuestions
    read: float
    took: float

    def is_old(self, asked: AskedQuestions) -> bool:
        """Whether it is time to look again."""
        age = time.monotonic() - self.read
        return asked is not self.asked or age > max(_LEAST, _OFTEN * self.took)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    """A browser keeps its connections open: the end waits for none of them."""

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401  (its own)
        """Tell of errors, and not of readers that have gone before all was told them."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def _handler(server: ReportServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            if not server.is_ours(self.headers.get("Host")):
                self._answer(403, b"Ask by the address that 'dqa view' printed.\n", "text/plain")
                return
            asked = urlsplit(self.path)
            known: dict[str, Callable[[], bytes | None]] = {
                "/": server.page,
                "/report": lambda: live_report(server.runs().report),
                "/question": lambda: _details(server, parse_qs(asked.query).get("id", [""])[0]),
            }
            try:
                found = known[asked.path]() if asked.path in known else None
            except DqaError as error:  # such as a run that was removed meanwhile
                self._answer(503, f"{error}\n".encode(), "text/plain")
                return
            if found is None:
                self._answer(404, b"There is nothing here.\n", "text/plain")
                return
            self._answer(200, found, "text/html" if asked.path == "/" else "application/json")

        def _answer(self, status: int, body: bytes, kind: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            self.send_header("X-Content-Type-Options", "nosniff")
            self.send_header("Cross-Origin-Resource-Policy", "same-origin")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (its own name)
            """Say nothing of requests: who serves a page asked for none of that."""

    return Handler


def _details(server: ReportServer, id_: str) -> bytes | None:
    found = server.runs().details_of(id_)
    return None if found is None else live_details(found)
