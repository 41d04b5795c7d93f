"""Spans of OpenTelemetry: what a run, a decision, a call of a model and a statement took.

Nothing is measured, and nothing of OpenTelemetry imported, unless this process has something that
takes spans: the provider that `dqa.api.telemetry` sets up as OpenTelemetry's settings say, or one
of the program's own. The names are those of OpenTelemetry's conventions for generative AI and for
databases. What was said, and what a database returned, is in no span unless the settings ask for
that.
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
    from opentelemetry.trace import Span as MadeSpan
    from opentelemetry.trace import Tracer, TracerProvider

Value: TypeAlias = str | bool | int | float | Sequence[str]
SpanKind: TypeAlias = Literal["internal", "client"]

_CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_IN_SPANS = frozenset({"true", "span_only", "span_and_event"})

_given: list[TracerProvider] = []
"""Who takes the spans; the last one that was given."""


class Span:
    """A span that nobody takes: it does nothing, and is false."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        pass

    def set(self, attributes: Mapping[str, Value | None]) -> None:
        """Add attributes by their full names; None adds nothing."""

    def say(self, attribute: str, content: Callable[[], object]) -> None:
        """Add what was said or returned, as text or JSON, where the settings ask for content.

        Secrets are left out.
        """

    def when_entered(self, attribute: str, content: Callable[[], object]) -> None:
        """Add, as `say` does, as soon as the span is entered."""

    def happened(self, name: str, attributes: Mapping[str, Value | None]) -> None:
        """Add an event."""

    def fail(self, kind: str, words: str | None = None) -> None:
        """Say that what is measured failed: what kind of failure, and in which words."""


_NOTHING = Span()


class _Taken(Span):
    """A span that somebody takes."""

    __slots__ = ("_entered", "_first", "_made")

    def __init__(self, entered: AbstractContextManager[MadeSpan]) -> None:
        self._entered = entered
        self._first: list[tuple[str, Callable[[], object]]] = []

    def __bool__(self) -> bool:
        return self._made.is_recording()

    def __enter__(self) -> Self:
        self._made = self._entered.__enter__()
        for attribute, content in self._first:
            self.say(attribute, content)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is not None:
            self.fail(kind.__qualname__, str(error))
        self._entered.__exit__(kind, error, traceback)

    def set(self, attributes: Mapping[str, Value | None]) -> None:
        self._made.set_attributes({n: v for n, v in attributes.items() if v is not None})

    def say(self, attribute: str, content: Callable[[], object]) -> None:
        if _takes_content():
            told = redacted(content())
            text = told if isinstance(told, str) else json.dumps(told, ensure_ascii=False)
            self._made.set_attribute(attribute, text)

    def when_entered(self, attribute: str, content: Callable[[], object]) -> None:
        self._first.append((attribute, content))

    def happened(self, name: str, attributes: Mapping[str, Value | None]) -> None:
        self._made.add_event(name, {n: v for n, v in attributes.items() if v is not None})

    def fail(self, kind: str, words: str | None = None) -> None:
        from opentelemetry.trace import StatusCode

        self._made.set_attribute("error.type", kind)
        said = redact(words) if words and _takes_content() else None
        self._made.set_status(StatusCode.ERROR, said)


class _Entered(_Taken):
    """A span that somebody else has entered, and leaves."""

    def __init__(self, made: MadeSpan) -> None:
        self._made = made


def current_span() -> Span:
    """Return the span within which this is called, to add to it."""
    if _tracer() is None:
        return _NOTHING
    from opentelemetry.trace import get_current_span

    return _Entered(get_current_span())


def start_span(
    name: str, attributes: Mapping[str, Value | None], kind: SpanKind = "internal"
) -> Span:
    """Return a span to enter, within which others are its children.

    It begins where it is entered and ends where it is left. Whoever has more to tell than costs
    nothing asks first whether the span is true.

    Parameters
    ----------
    name
        What is measured: the operation, and on what.
    attributes
        By their full names; None for what is not known.
    kind
        Whether it is a request of somebody else's, such as a server's.
    """
    tracer = _tracer()
    if tracer is None:
        return _NOTHING
    from opentelemetry.trace import SpanKind as Kinds

    return _Taken(
        tracer.start_as_current_span(
            name,
            kind=Kinds.CLIENT if kind == "client" else Kinds.INTERNAL,
            attributes={n: v for n, v in attributes.items() if v is not None},
            # Their words may hold what the settings do not ask for.
            record_exception=False,
            set_status_on_exception=False,
        )
    )


def are_taken() -> bool:
    """Whether anybody takes spans."""
    return _tracer() is not None


@contextmanager
def taken_by(provider: TracerProvider) -> Iterator[None]:
    """Let a provider take the spans of this process until the block ends."""
    _given.append(provider)
    try:
        yield
    finally:
        _given.remove(provider)


def _tracer() -> Tracer | None:
    """Return what makes spans; None where nobody takes any."""
    if _given:
        return _given[-1].get_tracer("dqa")
    # A program that has a provider of its own has imported what it is set with.
    api = sys.modules.get("opentelemetry.trace")
    if api is None:
        return None
    provider: TracerProvider = api.get_tracer_provider()
    if isinstance(provider, api.ProxyTracerProvider | api.NoOpTracerProvider):
        return None
    return provider.get_tracer("dqa")


def _takes_content() -> bool:
    return os.environ.get(_CONTENT, "").strip().lower() in _IN_SPANS


def said_by(role: str, text: str) -> dict[str, object]:
    """Return a message as the conventions have it."""
    return {"role": role, "parts": [{"type": "text", "content": text}]}
