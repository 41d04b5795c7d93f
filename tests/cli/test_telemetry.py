"""Spans by the command line, through OpenTelemetry's own settings."""

from __future__ import annotations

import gzip
import os
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.programs import run_python

ASKED = ("--candidate", "Süd", "--candidate", "Nord", "--question", "Whom?", "--decider", "first")


class Collector(ThreadingHTTPServer):
    """A collector that keeps what is sent to it by OTLP over HTTP."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[ExportTraceServiceRequest] = []
        self.paths: list[str] = []
        self.headers: list[str | None] = []

    @property
    def names(self) -> list[str]:
        """The names of all spans."""
        return [
            span.name
            for request in self.requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    @property
    def services(self) -> set[str]:
        """What the resources say that sent them."""
        return {
            attribute.value.string_value
            for request in self.requests
            for resource in request.resource_spans
            for attribute in resource.resource.attributes
            if attribute.key == "service.name"
        }


class _Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        self.server.paths.append(self.path)
        self.server.headers.append(self.headers.get("x-team"))
        self.server.requests.append(ExportTraceServiceRequest.FromString(body))
        self.send_response(200)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
        pass


@pytest.fixture
def collector() -> Iterator[Collector]:
    """A collector that listens."""
    with Collector() as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield server
        server.shutdown()


def _ran(*arguments: object, **settings: str) -> subprocess.CompletedProcess[str]:
    environment = {name: v for name, v in os.environ.items() if not name.startswith("OTEL_")}
    return run_python("-m", "dqa", *map(str, arguments), env=environment | settings)


def test_an_endpoint_alone_sends_the_spans_of_a_command(collector: Collector, shop: Path) -> None:
    """With what else OpenTelemetry's settings say; what the command prints stays what it is."""
    port = collector.server_address[1]
    quiet = _ran("ask", "--database", shop, *ASKED)
    ran = _ran(
        *("ask", "--database", shop, *ASKED),
        OTEL_EXPORTER_OTLP_ENDPOINT=f"http://127.0.0.1:{port}",
        OTEL_EXPORTER_OTLP_COMPRESSION="gzip",
        OTEL_EXPORTER_OTLP_HEADERS="x-team=green",
    )
    assert (ran.returncode, ran.stdout) == (0, quiet.stdout), ran.stderr
    assert "invoke_agent first" in collector.names
    assert set(collector.paths) == {"/v1/traces"}
    assert set(collector.headers) == {"green"}
    assert collector.services == {"dqa"}


def test_what_turns_opentelemetry_off_turns_spans_off(collector: Collector, shop: Path) -> None:
    """Though there is an endpoint."""
    endpoint = f"http://127.0.0.1:{collector.server_address[1]}"
    settings = {"OTEL_SDK_DISABLED": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint}
    ran = _ran("query", shop, "SELECT 1", **settings)
    assert (ran.returncode, collector.names) == (0, []), ran.stderr


def test_spans_that_cannot_be_sent_are_one_line_and_end_nothing(shop: Path) -> None:
    """No collector listens, or no installed package has the exporter."""
    asked = ("query", shop, "SELECT name FROM supplier", "--csv")
    nowhere = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}
    closed = _ran(*asked, **nowhere, OTEL_EXPORTER_OTLP_TIMEOUT="1")
    unknown = _ran(*asked, OTEL_TRACES_EXPORTER="pigeon")
    for ran in (closed, unknown):
        assert ran.returncode == 0
        assert ran.stdout.startswith("name\n")
        assert "Traceback" not in ran.stderr
    assert "warning: spans could not be sent: " in closed.stderr
    assert "no installed package has an exporter called 'pigeon'" in unknown.stderr
