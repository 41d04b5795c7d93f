"""OpenTelemetry spans of runs, decisions, model calls and statements.

Spans go to the provider that the program or ``opentelemetry-instrument`` has configured. Without a
provider, OpenTelemetry is not imported. Names follow OpenTelemetry's conventions for generative AI
and for databases. Prompts, replies and statements are recorded only if the settings request
content.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from dqa.core.secrets import redact, redacted

if TYPE_CHECKING:
    from opentelemetry.trace import Span as ApiSpan
    from opentelemetry.trace import TracerProvider

Value: TypeAlias = str | bool | int | float | Sequence[str]
Content: TypeAlias = Callable[[], object]

_API = "opentelemetry.trace"
_CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_IN_SPANS = frozenset({"true", "span_only", "span_and_event"})


class Span(NamedTuple):
    """A span, which does nothing without a provider. ``bool(span)`` says whether it is recorded."""

    api: ApiSpan | None = None

    def __bool__(self) -> bool:
        return self.api is not None and self.api.is_recording()

    def set(self, attributes: Mapping[str, Value | None]) -> None:
        """Add attributes, given by their full names. Attributes with the value None are omitted."""
        if self.api is not None:
            self.api.set_attributes(_known(attributes))

    def say(self, attribute: str, content: Content) -> None:
        """Add a text or JSON value without its secrets, if the settings request content."""
        if self.api is not None and _takes_content():
            value = redacted(content())
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            self.api.set_attribute(attribute, text)

    def add_event(self, name: str, attributes: Mapping[str, Value | None]) -> None:
        """Add an event."""
        if self.api is not None:
            self.api.add_event(name, _known(attributes))

    def fail(self, kind: str, words: str | None = None) -> None:
        """Record the kind of a failure, and its message if the settings request content."""
        if self.api is not None:
            from opentelemetry.trace import StatusCode

            self.api.set_attribute("error.type", kind)
            description = redact(words) if words and _takes_content() else None
            self.api.set_status(StatusCode.ERROR, description)


@contextmanager
def start_span(
    name: str,
    attributes: Mapping[str, Value | None],
    content: Mapping[str, Content],
    kind: Literal["internal", "client"] = "internal",
) -> Iterator[Span]:
    """Start a span that ends with the block. Spans inside the block are its children.

    Parameters
    ----------
    name
        The name of the span: an operation and its object, e.g. a chat and its model.
    attributes
        The attributes by their full names. The value None means unknown.
    content
        Further attributes: texts and JSON values that are recorded only if the settings request
        content (see `Span.say`).
    kind
        ``client`` for a request to another system, such as a server.
    """
    api: Any = sys.modules.get(_API)  # The program that sets a provider imports the API.
    provider: TracerProvider | None = None if api is None else api.get_tracer_provider()
    if provider is None or isinstance(provider, api.ProxyTracerProvider | api.NoOpTracerProvider):
        yield Span()
        return
    from opentelemetry.trace import SpanKind

    with provider.get_tracer("dqa").start_as_current_span(
        name,
        kind=SpanKind[kind.upper()],
        attributes=_known(attributes),
        record_exception=False,  # its message may contain content
        set_status_on_exception=False,
    ) as started:
        span = Span(started)
        for attribute, value in content.items():
            span.say(attribute, value)
        try:
            yield span
        except BaseException as error:
            span.fail(type(error).__qualname__, str(error))
            raise


def _takes_content() -> bool:
    return os.environ.get(_CONTENT, "").strip().lower() in _IN_SPANS


def _known(attributes: Mapping[str, Value | None]) -> dict[str, Value]:
    return {name: value for name, value in attributes.items() if value is not None}
