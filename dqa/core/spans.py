"""OpenTelemetry spans of runs, decisions, model calls and statements.

Spans go to the provider that the program or ``opentelemetry-instrument`` has configured. A program
without OpenTelemetry does not import it. Names follow OpenTelemetry's conventions for generative AI
and for databases. Spans contain no prompts, replies, statements or messages of errors.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from opentelemetry.trace import Span as ApiSpan

Value: TypeAlias = str | bool | int | float | Sequence[str]


class Span(NamedTuple):
    """A span. Its methods do nothing if the program does not use OpenTelemetry."""

    api: ApiSpan | None = None

    def set(self, attributes: Mapping[str, Value | None]) -> None:
        """Add attributes by their full names. Attributes with the value None are omitted."""
        if self.api is not None:
            self.api.set_attributes(_known(attributes))

    def add_event(self, name: str, attributes: Mapping[str, Value | None]) -> None:
        """Add an event."""
        if self.api is not None:
            self.api.add_event(name, _known(attributes))

    def fail(self, kind: str) -> None:
        """Record the kind of a failure."""
        if self.api is not None:
            from opentelemetry.trace import StatusCode

            self.api.set_attribute("error.type", kind)
            self.api.set_status(StatusCode.ERROR)


@contextmanager
def start_span(
    name: str,
    attributes: Mapping[str, Value | None],
    kind: Literal["internal", "client"] = "internal",
) -> Iterator[Span]:
    """Start a span that ends with the block. Spans inside the block are its children.

    Parameters
    ----------
    name
        The name of the span: an operation and its object, e.g. a chat and its model.
    attributes
        The attributes by their full names. The value None means unknown.
    kind
        ``client`` for a request to another system, such as a server.
    """
    # A program that has configured a provider has also imported the API.
    api: Any = sys.modules.get("opentelemetry.trace")
    if api is None:
        yield Span()
        return
    with api.get_tracer("dqa").start_as_current_span(
        name,
        kind=api.SpanKind[kind.upper()],
        attributes=_known(attributes),
        record_exception=False,  # its message may contain content
        set_status_on_exception=False,
    ) as started:
        span = Span(started)
        try:
            yield span
        except BaseException as error:
            span.fail(type(error).__qualname__)
            raise


def _known(attributes: Mapping[str, Value | None]) -> dict[str, Value]:
    return {name: value for name, value in attributes.items() if value is not None}
