"""OpenTelemetry spans of runs, decisions, model calls and statements.

OpenTelemetry is not imported, and nothing is measured, unless this process has a provider: that of
`dqa.api.telemetry`, which OpenTelemetry's settings control, or the program's own. Names follow the
conventions for generative AI and for databases. Prompts, replies and statements are recorded only
where the settings ask for content.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self, TypeAlias

from dqa.core.secrets import redact, redacted

if TYPE_CHECKING:
    from opentelemetry.trace import Span as ApiSpan
    from opentelemetry.trace import Tracer, TracerProvider

Value: TypeAlias = str | bool | int | float | Sequence[str]
SpanKind: TypeAlias = Literal["internal", "client"]

_CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_IN_SPANS = frozenset({"true", "span_only", "span_and_event"})

_providers: list[TracerProvider] = []
"""The providers of `taken_by`; the last one counts."""


class Span:
    """A span, true while it is recorded; without a provider it does nothing.

    Parameters
    ----------
    context
        Starts and ends it; None where there is no provider, or another one ends it.
    span
        A span that has started.
    """

    __slots__ = ("_content", "_context", "_span")

    def __init__(
        self, context: AbstractContextManager[ApiSpan] | None = None, span: ApiSpan | None = None
    ) -> None:
        self._context, self._span = context, span
        self._content: list[tuple[str, Callable[[], object]]] = []

    def __bool__(self) -> bool:
        return self._span is not None and self._span.is_recording()

    def __enter__(self) -> Self:
        if self._context is not None:
            self._span = self._context.__enter__()
            for attribute, content in self._content:
                self.say(attribute, content)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._context is not None:
            if kind is not None:
                self.fail(kind.__qualname__, str(error))
            self._context.__exit__(kind, error, traceback)

    def set(self, attributes: Mapping[str, Value | None]) -> None:
        """Add attributes by their full names; None adds nothing."""
        if self._span is not None:
            self._span.set_attributes(_known(attributes))

    def say(self, attribute: str, content: Callable[[], object]) -> None:
        """Add a text or JSON value without its secrets, where the settings ask for content."""
        if self._span is not None and _takes_content():
            value = redacted(content())
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            self._span.set_attribute(attribute, text)

    def when_entered(self, attribute: str, content: Callable[[], object]) -> None:
        """Add content, as `say` does, when the span starts."""
        self._content.append((attribute, content))

    def happened(self, name: str, attributes: Mapping[str, Value | None]) -> None:
        """Add an event."""
        if self._span is not None:
            self._span.add_event(name, _known(attributes))

    def fail(self, kind: str, words: str | None = None) -> None:
        """Record a failure: its kind, and its words where the settings ask for content."""
        if self._span is not None:
            from opentelemetry.trace import StatusCode

            self._span.set_attribute("error.type", kind)
            description = redact(words) if words and _takes_content() else None
            self._span.set_status(StatusCode.ERROR, description)


def current_span() -> Span:
    """Return the current span, to add to it."""
    if not are_taken():
        return Span()
    from opentelemetry.trace import get_current_span

    return Span(span=get_current_span())


def start_span(
    name: str, attributes: Mapping[str, Value | None], kind: SpanKind = "internal"
) -> Span:
    """Return a span that starts when it is entered; spans within it are its children.

    Parameters
    ----------
    name
        The operation and its object.
    attributes
        By their full names; None for what is not known.
    kind
        Whether it is a request to another system, such as a server.
    """
    tracer = _tracer()
    if tracer is None:
        return Span()
    from opentelemetry.trace import SpanKind as Kinds

    context = tracer.start_as_current_span(
        name,
        kind=Kinds.CLIENT if kind == "client" else Kinds.INTERNAL,
        attributes=_known(attributes),
        record_exception=False,  # its message may hold content
        set_status_on_exception=False,
    )
    return Span(context)


def are_taken() -> bool:
    """Whether this process has a provider."""
    return _tracer() is not None


@contextmanager
def taken_by(provider: TracerProvider) -> Iterator[None]:
    """Send the spans of this process to a provider until the block ends."""
    _providers.append(provider)
    try:
        yield
    finally:
        _providers.remove(provider)


def _tracer() -> Tracer | None:
    if _providers:
        return _providers[-1].get_tracer("dqa")
    # A program that has set a provider has imported the API.
    api = sys.modules.get("opentelemetry.trace")
    if api is None:
        return None
    provider: TracerProvider = api.get_tracer_provider()
    is_none = isinstance(provider, api.ProxyTracerProvider | api.NoOpTracerProvider)
    return None if is_none else provider.get_tracer("dqa")


def _takes_content() -> bool:
    return os.environ.get(_CONTENT, "").strip().lower() in _IN_SPANS


def _known(attributes: Mapping[str, Value | None]) -> dict[str, Value]:
    return {name: value for name, value in attributes.items() if value is not None}
