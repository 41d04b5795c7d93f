"""Serve the report of runs to this machine; it follows runs that are under way."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from dqa.api.reporting import AnyRun, Found, ReportedRuns, read_asked
from dqa.core.errors import DqaError, UsageError
from dqa.report.run_report.page import live_details, live_report, render_live_page

_LEAST = 1.0
"""Seconds between two readings of a run."""
_OFTEN = 4.0
"""A reading that took a second is followed by the next after this many seconds."""


class ReportServer:
    """Serves the report of runs at the loopback address, and reads them again as they continue.

    The figures need only the results and are there at once. The questions, which pictures need, are
    read or generated in the meantime.

    It answers only requests to this address or ``localhost``: the page of another site that is open
    in a browser cannot read it under its own name (DNS rebinding).

    Parameters
    ----------
    runs
        At least one run, or its location.
    title
        The title of the report; by default the names of the runs.
    port
        The port; 0 for any free one.

    Raises
    ------
    UsageError
        There is no run, or the port is taken.
    """

    def __init__(self, runs: Sequence[AnyRun], title: str | None = None, port: int = 0) -> None:
        self._runs, self._title = list(runs), title
        self._reading = threading.Lock()
        waiting = "They are being read or generated again, and come by themselves."
        self._asked: list[Found] = [(None, waiting)] * len(self._runs)
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
        """The port."""
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """The address to open."""
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

    def runs(self) -> ReportedRuns:
        """Return the runs as they are, or were a moment ago if another thread reads them."""
        if self._reading.acquire(blocking=False):
            try:
                if time.monotonic() > self._read_again or self._asked is not self._asked_before:
                    self._known = self._read()
            finally:
                self._reading.release()
        return self._known

    def _read(self) -> ReportedRuns:
        began = time.monotonic()
        self._asked_before = self._asked
        found = ReportedRuns(
            self._runs, title=self._title, details=True, live=True, asked=self._asked_before
        )
        ended = time.monotonic()
        self._read_again = ended + max(_LEAST, _OFTEN * (ended - began))
        return found

    def _read_asked(self) -> None:
        try:
            self._asked = read_asked(self._known.runs)
        except DqaError as error:  # such as a run that was removed in the meantime
            self._asked = [(None, str(error))] * len(self._runs)

    def answer(self, path: str) -> bytes | None:
        """Return what the page asks for; None if there is no such thing."""
        asked = urlsplit(path)
        if asked.path == "/":
            return render_live_page(self.runs().report.title).encode()
        if asked.path == "/report":
            return live_report(self.runs().report)
        if asked.path == "/question":
            found = self.runs().details_of(parse_qs(asked.query).get("id", [""])[0])
            return None if found is None else live_details(found)
        return None


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    """A browser keeps its connections open: the end does not wait for them."""

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401  (its own)
        """Report errors, but not readers that disconnected before the answer was complete."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def _handler(server: ReportServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            hosts = {f"{name}:{server.port}" for name in ("127.0.0.1", "localhost")}
            if self.headers.get("Host") not in hosts:
                self._send(403, b"Ask by the address that 'dqa view' printed.\n", "text/plain")
                return
            try:
                found = server.answer(self.path)
            except DqaError as error:  # such as a run that was removed in the meantime
                self._send(503, f"{error}\n".encode(), "text/plain")
                return
            if found is None:
                self._send(404, b"There is nothing here.\n", "text/plain")
                return
            is_page = urlsplit(self.path).path == "/"
            self._send(200, found, "text/html" if is_page else "application/json")

        def _send(self, status: int, body: bytes, kind: str) -> None:
            headers = {
                "Content-Type": f"{kind}; charset=utf-8",
                "Content-Length": str(len(body)),
                "Cache-Control": "no-store",
                "X-Content-Type-Options": "nosniff",
                "Cross-Origin-Resource-Policy": "same-origin",
            }
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (its own name)
            """Print nothing about requests."""

    return Handler
