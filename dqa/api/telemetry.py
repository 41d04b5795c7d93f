"""Send spans as OpenTelemetry's settings say; off without them.

``OTEL_TRACES_EXPORTER`` names the exporters (``otlp``, ``console``, or any that an installed
package brings), ``OTEL_EXPORTER_OTLP_ENDPOINT`` alone means ``otlp``, and ``OTEL_SDK_DISABLED``
turns everything off. Problems with spans are printed, and never end a run.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, cast

from dqa.core.distribution import install_command, own_version
from dqa.core.secrets import redact
from dqa.core.spans import export_to, is_exporting
from dqa.core.text import visible

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter

_DISABLED, _EXPORTERS = "OTEL_SDK_DISABLED", "OTEL_TRACES_EXPORTER"
_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_GROUP = "opentelemetry_traces_exporter"
_OTLP = {"http/protobuf": "otlp_proto_http", "grpc": "otlp_proto_grpc"}


@contextmanager
def export_spans() -> Iterator[bool]:
    """Send spans of runs, decisions, models' calls and statements, as the environment says.

    A program that has set up OpenTelemetry itself does not need this: its provider receives them.

    Yields
    ------
    bool
        Whether spans are sent. When the block ends, all of them have been sent.
    """
    wanted = () if is_exporting() else _wanted()
    exporters = [made for name in wanted if (made := _exporter(name)) is not None]
    if not exporters:
        yield is_exporting()
        return
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    resource = Resource.create({"service.version": own_version()})
    if str(resource.attributes.get(SERVICE_NAME, "unknown_service")).startswith("unknown_service"):
        resource = resource.merge(Resource({SERVICE_NAME: "dqa"}))
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    for exporter in exporters:
        provider.add_span_processor(BatchSpanProcessor(exporter))
    logger, handler = logging.getLogger("opentelemetry"), _Warnings()
    if not logger.hasHandlers():  # the program does not handle them itself
        logger.addHandler(handler)
    try:
        with export_to(provider):
            yield True
    finally:
        provider.shutdown()
        logger.removeHandler(handler)


def _wanted() -> tuple[str, ...]:
    """Return the exporters that the environment names."""
    if os.environ.get(_DISABLED, "").strip().lower() == "true":
        return ()
    named = os.environ.get(_EXPORTERS, "").strip()
    if not named and any(os.environ.get(name, "").strip() for name in _ENDPOINTS):
        named = "otlp"
    names = [name.strip() for name in named.split(",")]
    return tuple(name for name in dict.fromkeys(names) if name and name != "none")


def _exporter(name: str) -> SpanExporter | None:
    """Return an exporter; print why there is none."""
    protocol = next((os.environ[p] for p in _PROTOCOLS if os.environ.get(p)), "http/protobuf")
    point = _OTLP.get(protocol.strip(), name) if name == "otlp" else name
    lacking = f"no installed package has an exporter called '{name}' ({install_command('otel')})"
    try:
        if name == "console":
            from opentelemetry.sdk.trace.export import ConsoleSpanExporter

            return ConsoleSpanExporter(out=sys.stderr)  # the output of a command does not change
        for found in entry_points(group=_GROUP, name=point):
            return cast("SpanExporter", found.load()())
    except (ImportError, ValueError, RuntimeError) as error:
        lacking = str(error)
    _warn(f"no spans are sent by {name}, for {lacking}; {_DISABLED}=true asks for none.")
    return None


class _Warnings(logging.Handler):
    """Prints each problem with spans once, in one line and without secrets."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._printed: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        if str(record.msg) not in self._printed:
            self._printed.add(str(record.msg))
            _warn(f"spans could not be sent: {record.getMessage()}")


def _warn(text: str) -> None:
    sys.stderr.write(f"warning: {visible(redact(' '.join(text.split())))}\n")
