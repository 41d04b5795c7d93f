"""Classify the faults of model providers.

The exceptions of the providers' packages have no common base class. The provider's error code, the
message and the HTTP status determine the kind of a fault. Without a status, the names of the
exception classes determine the kind, because most packages use the same names.
"""

from __future__ import annotations

import errno
import re
import socket
import ssl
from collections.abc import Sequence
from email.utils import parsedate_to_datetime
from enum import StrEnum
from json import JSONDecodeError
from math import isfinite

from dqa.core.decision import Usage
from dqa.core.errors import (
    DqaError,
    MalformedReplyError,
    ModelUnavailableError,
    RequestTooLongError,
    UsageError,
)
from dqa.core.secrets import redact
from dqa.core.text import shortened

_LONGEST_WORDS = 400


class FaultKind(StrEnum):
    """The kind of a fault.

    `UNSUPPORTED` means that the model refuses a setting. The request is repeated without this
    setting. `FILTERED` means that a content filter refuses the request. This refusal counts as a
    reply.
    """

    RATE_LIMIT = "rate_limit"
    SERVER = "server"
    TIMEOUT = "timeout"
    CONNECTION = "connection"
    MALFORMED = "malformed"
    QUOTA = "quota"
    KEY = "key"
    NOT_FOUND = "not_found"
    REDIRECT = "redirect"
    REQUEST = "request"
    TOO_LONG = "too_long"
    FILTERED = "filtered"
    UNSUPPORTED = "unsupported"
    AFTER_STOP = "after_stop"
    UNKNOWN = "unknown"

    @property
    def retryable(self) -> bool:
        """Whether the same request may succeed later."""
        return self in _RETRYABLE

    def to_error(self, words: str) -> DqaError:
        """Return the error to raise for this fault, with a hint."""
        if self not in _HINTS:
            return ModelUnavailableError(f"The model failed: {words}")
        kinds = {self.TOO_LONG: RequestTooLongError, self.REQUEST: ModelUnavailableError}
        return kinds.get(self, UsageError)(f"{_HINTS[self]} The error says: {words}")


_LOST = frozenset({FaultKind.TIMEOUT, FaultKind.CONNECTION, FaultKind.MALFORMED})
"""Faults after which the provider may have charged for a lost reply."""
_RETRYABLE = _LOST | {FaultKind.RATE_LIMIT, FaultKind.SERVER}
_SHORTEN = "lower --row-limit, --max-steps or a setting of the decider (--set)."
_HINTS = {
    FaultKind.KEY: "The provider rejects the key: check the environment variable with the key, "
    "and whether the account may use this model.",
    FaultKind.NOT_FOUND: "The server does not know this address or this model: check --base-url, "
    "which usually ends in /v1, and --model. Many servers list their models at BASE-URL/models.",
    FaultKind.REDIRECT: "The server redirects requests to another address. The request was not "
    "sent there, because it contains the key and the question: correct --base-url.",
    FaultKind.QUOTA: "Quota exhausted: the account has no credit. Add credit, or use another key.",
    FaultKind.REQUEST: f"The provider rejects the request. If the request is too long, {_SHORTEN}",
    FaultKind.TOO_LONG: f"The request is longer than the model accepts: {_SHORTEN}",
}


class ServedError(MalformedReplyError):
    """An error with status 200, which a server sent instead of a reply.

    Parameters
    ----------
    error
        The value of ``error`` in the response: an object with ``message`` and ``code``, or a text.
    """

    def __init__(self, error: object) -> None:
        about = error if isinstance(error, dict) else {"message": error}
        super().__init__(f"The server sent an error instead of a reply: {about.get('message')}")
        self.code = about.get("code") or about.get("type")


def usage_of_fault(kind: FaultKind, error: Exception) -> Usage:
    """Return the usage of a failed attempt.

    If the provider may have charged for a lost reply, `Usage.uncounted` is 1.
    """
    lost = kind in _LOST and unreached(error) is None
    return getattr(error, "usage", None) or Usage(calls=1, uncounted=int(lost))


def _pattern(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(alternatives), re.IGNORECASE | re.DOTALL)


_TOO_LONG = _pattern(
    r"context[ _](?:length|window|size|limit)",
    r"maximum (?:model|prompt|input) length",
    r"\b(?:prompt|input|request)\b[^.]{0,40} too (?:long|large)\b",
    r"request_too_large|input token count|tokens in the prompt",
    r"reduce the length of|model token limit|string_above_max_length",
)
_FILTERED = _pattern(
    r"content[ _-]?(?:management|filter|policy|safety)|ResponsibleAIPolicy"
    r"|data_?inspection_?failed|moderation_blocked",
    r"(?:flagged|blocked|rejected) (?:by|as|for|due to) (?:\w+ ){0,3}(?:moderation|safety|polic)",
    r"safety system|requires moderation|inappropriate content",
)
_QUOTA = _pattern(
    r"\b(?:insufficient|out of|no (?:more|remaining)?|exceeded (?:your|the) (?:current|monthly))"
    r"[ _]?(?:\w+[ _])?(?:quota|credits?|balance|funds)\b",
    r"\b(?:balance|credits?|quota) (?:is |are )?(?:insufficient|exhausted|too low|not enough)",
    r"billing_error|billing[ _]hard[ _]limit|payment required",
)
_BY_CODE = (
    (FaultKind.QUOTA, _QUOTA),
    (FaultKind.FILTERED, _FILTERED),
    (FaultKind.TOO_LONG, _TOO_LONG),
    (FaultKind.NOT_FOUND, _pattern("model_not_found")),
)
"""Kinds of faults by pattern of the provider's code, which has priority over status and message."""
_BY_WORDS: Sequence[tuple[FaultKind, set[int], re.Pattern[str]]] = (
    # A request with more tokens than the limit per minute can never succeed.
    (FaultKind.TOO_LONG, {429}, _pattern("request too large")),
    (FaultKind.FILTERED, {200, 400, 403, 422, 451}, _FILTERED),
    (FaultKind.QUOTA, {200, 400, 403, 429}, _QUOTA),
    (FaultKind.TOO_LONG, {200, 400, 422}, _TOO_LONG),
)
"""Kinds of faults by HTTP status and pattern of the message. `ServedError` has status 200."""
_LATER = _pattern(r"\b(?:retry|try again) (?:in|after)\b|retryDelay|per (?:minute|day)")
"""A message that recommends a later retry is about a rate limit, not an exhausted quota."""
_BY_STATUS = {
    **dict.fromkeys((200, 409, 425), FaultKind.SERVER),
    **dict.fromkeys((401, 403), FaultKind.KEY),
    402: FaultKind.QUOTA,
    **dict.fromkeys((404, 405, 501), FaultKind.NOT_FOUND),
    408: FaultKind.TIMEOUT,
    413: FaultKind.TOO_LONG,
    429: FaultKind.RATE_LIMIT,
}
_BY_NAME = (
    ({"ContextOverflowError"}, FaultKind.TOO_LONG),
    ({"APIResponseValidationError"}, FaultKind.MALFORMED),
    ({"APITimeoutError", "Timeout", "TimeoutError", "TimeoutException"}, FaultKind.TIMEOUT),
    ({"APIConnectionError", "ConnectionError", "TransportError"}, FaultKind.CONNECTION),
    ({"IncompleteRead"}, FaultKind.CONNECTION),
)
_MALFORMED = (MalformedReplyError, JSONDecodeError, RecursionError, UnicodeDecodeError)


def diagnose(error: Exception) -> FaultKind:
    """Return the kind of an exception of any provider's package."""
    status, words = _status(error), str(error)
    codes = f"{getattr(error, 'code', None)} {getattr(error, 'type', None)}"
    for kind, pattern in _BY_CODE:
        if pattern.search(codes) and (kind is FaultKind.QUOTA or (status or 0) < 500):
            return kind
    # OpenAI's client raises `APIError` itself, without a status, for an error in a stream.
    is_served = isinstance(error, ServedError) or type(error).__name__ == "APIError"
    if status is None and not is_served:
        return _by_class(error)
    status = status or 200
    for kind, statuses, pattern in _BY_WORDS:
        if status in statuses and pattern.search(words):
            if kind is FaultKind.QUOTA and _LATER.search(words):
                continue
            return kind
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status >= 500:
        return FaultKind.SERVER
    return FaultKind.REDIRECT if 300 <= status < 400 else FaultKind.REQUEST


def _by_class(error: Exception) -> FaultKind:
    """Return the kind of an exception without an HTTP status."""
    if isinstance(error, _MALFORMED):
        return FaultKind.MALFORMED
    names = {kind.__name__ for kind in type(error).__mro__}
    found = (kind for known, kind in _BY_NAME if names & known)
    return next(found, FaultKind.TOO_LONG if _TOO_LONG.search(str(error)) else FaultKind.UNKNOWN)


def _status(error: BaseException) -> int | None:
    """Return the HTTP status of an error response of any package; None without a status."""
    response = getattr(error, "response", None)
    holders = (error, "status_code"), (error, "http_status"), (response, "status_code")
    for holder, name in (*holders, (error, "code")):
        status = str(getattr(holder, name, None))
        if status.isdecimal() and 300 <= int(status) < 600:
            return int(status)
    return None


_EVENTS = re.compile(r"(?:^|: ['\"]?)(?:data|event): ?\S")
"""Matches a stream of server-sent events, or an error message that quotes one."""
_ONLY_STREAMS = _pattern(
    r"(?:only|must|requires?|enable|non)\b.{0,40}\bstream",
    r"\bstream\w*\b.{0,40}\b(?:only|required|must)",
)
_OPTIONAL = ("stop", "temperature", "stream_options")
_REFUSED = _pattern(
    r"unsupported|unrecogni[sz]ed|unknown|unexpected|deprecated|does not support",
    r"not (?:supported|permitted|allowed)",
)
_NAMED = re.compile(
    r"['\"`]({0})['\"`]|\b(?:argument|parameter|field|key|model)\b[^.:]*:\s*({0})\b"
    r"|^\W*({0})\b".format("|".join(_OPTIONAL)),
    re.IGNORECASE,
)
"""Matches a setting's name that is quoted, follows a colon or begins the message."""


def refused_setting(error: Exception) -> str | None:
    """Return the optional setting that a model refuses; None for other errors.

    The setting ``stop`` is optional, because `dqa.models.calling` itself cuts replies at stop
    sequences. The result ``stream`` means that the server refuses requests without streaming.
    """
    words = str(error)
    body = words if isinstance(error, MalformedReplyError) else getattr(error, "doc", "")
    if _EVENTS.search(body[:200]):
        return "stream"
    if _status(error) not in {400, 422}:
        return None
    if _ONLY_STREAMS.search(words):
        return "stream"
    named, code = getattr(error, "param", None), str(getattr(error, "code", None))
    if named in _OPTIONAL and code in {"unsupported_parameter", "unsupported_value"}:
        return str(named)
    found = _NAMED.search(words) if _REFUSED.search(words) else None
    return found[found.lastindex or 0] if found else None


def retry_after(error: Exception) -> float | None:
    """Return how many seconds the provider asks to wait; None if it does not say.

    A date is compared with the time in the same response, because clocks may differ.
    """
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    value, sent = headers.get("retry-after", ""), headers.get("date", "")
    try:
        if value[:1].isdigit():
            seconds = float(value)
        else:
            until = parsedate_to_datetime(value)
            seconds = (until - parsedate_to_datetime(sent)).total_seconds()
    except (TypeError, ValueError):
        return None
    return max(0.0, seconds) if isfinite(seconds) else None


def words_of(error: Exception) -> str:
    """Return the class, message and address of an exception on one line, without secrets."""
    words = shortened(redact(" ".join(str(error).split())), _LONGEST_WORDS)
    about = [part for part in (_address(error), unreached(error)) if part]
    where = f" ({': '.join(about)})" if about else ""
    name = type(error).__name__
    return f"{name}: {words}{where}" if words else f"{name}{where}"


def _address(error: Exception) -> str | None:
    """Return the URL of a request, and the target of a redirect, without secrets."""
    try:
        url = getattr(getattr(error, "request", None), "url", None)
    except RuntimeError:  # httpx raises it if an error has no request
        return None
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    onward = f" to {headers['location']}" if "location" in headers else ""
    return redact(f"{url}{onward}") if url else None


def unreached(error: BaseException) -> str | None:
    """Return the reason why a connection failed, and the fix; None for other errors."""
    cause: BaseException | None = error
    while cause is not None:
        no_route = isinstance(cause, OSError) and cause.errno in _NO_ROUTE
        if no_route or isinstance(cause, _UNREACHED) or type(cause).__name__ == "ConnectTimeout":
            why = " ".join(str(cause).split()) or "no answer in time"
            return f"no server can be reached ({why}): start the server, or correct --base-url"
        cause = cause.__cause__ or cause.__context__
    return None


_NO_ROUTE = (errno.ENETUNREACH, errno.EHOSTUNREACH)
_UNREACHED = (ConnectionRefusedError, socket.gaierror, ssl.SSLError)
