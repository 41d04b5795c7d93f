"""Telling faults apart, whichever package raises them."""

from __future__ import annotations

from typing import Any

import pytest

from dqa.core.errors import RequestTooLongError
from dqa.models.faults import FaultKind, diagnose, refused_setting, words_of


class ReadTimeoutError(TimeoutError):
    """A timeout with a name of its own."""


def worded(words: str, status: int = 400, **more: Any) -> Any:
    """An error of some package's with the provider's words."""
    error: Any = RuntimeError(words)
    error.status_code = status
    for name, value in more.items():
        setattr(error, name, value)
    return error


class ContextOverflowError(Exception):
    """As LangChain calls it."""


@pytest.mark.parametrize(
    "error",
    [
        worded("no", code="context_length_exceeded"),
        worded("This model's maximum context length is 8192 tokens. However, you asked for more."),
        worded("prompt is too long: 214850 tokens > 200000 maximum"),
        worded("the request exceeds the available context size, try increasing it"),
        worded("Please reduce the length of the messages or completion."),
        worded("Request too large for m on tokens per min (TPM): Limit 10, Requested 20.", 429),
        ContextOverflowError("no"),
        RuntimeError("ValidationException: Input is too long for requested model."),
    ],
)
def test_a_request_that_is_too_long_is_told_by_code_or_words(error: Exception) -> None:
    """Asking again cannot help; asking for less can."""
    assert diagnose(error) is FaultKind.TOO_LONG
    found = FaultKind.TOO_LONG.to_error(words_of(error))
    assert isinstance(found, RequestTooLongError)
    assert "a setting of the decider" in str(found)
    assert not FaultKind.TOO_LONG.retryable


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (worded("max_tokens is too large: 5000. At most 4096 are supported."), FaultKind.REQUEST),
        (worded("This would exceed your limit of 40,000 input tokens.", 429), FaultKind.RATE_LIMIT),
        (worded("The context window of the worker crashed.", 500), FaultKind.SERVER),
        (ReadTimeoutError("The request took too long."), FaultKind.TIMEOUT),
    ],
)
def test_what_only_sounds_like_it_is_no_request_that_is_too_long(
    error: Exception, kind: FaultKind
) -> None:
    """A shorter one would fail alike, or the same one succeed later."""
    assert diagnose(error) is kind


@pytest.mark.parametrize(
    ("error", "setting"),
    [
        (worded("no", param="stop", code="unsupported_parameter"), "stop"),
        (worded("Unsupported parameter: 'stop' is not supported with this model."), "stop"),
        (worded("'temperature' does not support 0 with this model."), "temperature"),
        (worded("`temperature` is deprecated for this model."), "temperature"),
        (worded("('body', 'stop'): Extra inputs are not permitted", 422), "stop"),
        (worded("Invalid 'stop': array too long.", param="stop", code="array_too_long"), None),
        (worded("Unsupported file; we stop here."), None),
        (worded("Unsupported parameter: 'stop'.", 500), None),
        (RuntimeError("Unsupported parameter: 'stop'."), None),
    ],
)
def test_a_refused_setting_is_told_by_code_or_words(error: Exception, setting: str | None) -> None:
    """OpenAI names it in a field of its own; other servers only in their words."""
    assert refused_setting(error) == setting


def test_words_hold_no_secret_and_no_line_break(monkeypatch: pytest.MonkeyPatch) -> None:
    """Providers repeat keys and headers in their errors."""
    monkeypatch.setenv("SOME_API_KEY", "hush-hush-1234")
    words = words_of(ValueError("key hush-hush-1234,\nAuthorization: Bearer abc.def\n" + "x" * 999))
    assert "hush-hush" not in words
    assert "abc.def" not in words
    assert "\n" not in words
    assert len(words) < 450
