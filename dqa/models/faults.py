"""What goes wrong between here and a model's provider, and what each fault calls for.

Providers' packages share no base class. A fault is told by its HTTP status where there is one, and
by the names of its classes where there is none: the packages that OpenAI, Anthropic and others
generate from one template, httpx, requests and Python itself agree on those.
"""

from __future__ import annotations

import re
import socket
import ssl
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from enum import StrEnum
from json import JSONDecodeError
from typing import Any

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
    """What a fault is; `retryable` says whether asking again can help.

    `UNSUPPORTED` is a setting that the model refuses: the request is made again without it.
    """

    RATE_LIMIT = "rate_limit"
    SERVER = "server"
    TIMEOUT = "timeout"
    CONNECTION = "connection"
    MALFORMED = "malformed"
    QUOTA = "quota"
    KEY = "key"
    NOT_FOUND = "not_found"
    UNKNOWN_MODEL = "unknown_model"
    REQUEST = "request"
    TOO_LONG = "too_long"
    UNSUPPORTED = "unsupported"
    AFTER_STOP = "after_stop"
    UNKNOWN = "unknown"

    @property
    def retryable(self) -> bool:
        """Whether the same request may succeed later."""
        return self in _RETRYABLE

    def to_error(self, words: str) -> DqaError:
        """Return the error that says what to mend, for a fault that asking again cannot help."""
        hint = _HINTS.get(self)
        if hint is None:
            return ModelUnavailableError(f"The model failed: {words}")
        if self is FaultKind.TOO_LONG:
            return RequestTooLongError(f"{hint} It says: {words}")
        if self is FaultKind.REQUEST:
            return ModelUnavailableError(f"{hint} It says: {words}")
        return UsageError(f"{hint} It says: {words}")


_RETRYABLE = frozenset(
    {
        FaultKind.RATE_LIMIT,
        FaultKind.SERVER,
        FaultKind.TIMEOUT,
        FaultKind.CONNECTION,
        FaultKind.MALFORMED,
    }
)
_LONGER_THAN_TAKEN = "The request is longer than the model takes"
_HINTS = {
    FaultKind.KEY: "The provider refuses the key: check the variable that holds it, and that the "
    "account may use this model.",
    FaultKind.NOT_FOUND: "The server has nothing at this address: check --base-url, which mostly "
    "ends in /v1 (and --model).",
    FaultKind.UNKNOWN_MODEL: "The provider knows no such model: check --model; many servers list "
    "theirs at BASE-URL/models.",
    FaultKind.QUOTA: "The account has no quota left: add to it, or use another key.",
    FaultKind.REQUEST: "The provider rejects the request; where it is too long, lower --row-limit "
    "or --max-steps, or what a setting of the decider's own has it read (--set).",
    FaultKind.TOO_LONG: f"{_LONGER_THAN_TAKEN}: lower --row-limit or --max-steps, or what a "
    "setting of the decider's own has it read (--set).",
}
_BY_STATUS = {
    401: FaultKind.KEY,
    403: FaultKind.KEY,
    404: FaultKind.NOT_FOUND,
    408: FaultKind.TIMEOUT,
    409: FaultKind.SERVER,
    413: FaultKind.TOO_LONG,
    425: FaultKind.SERVER,
    429: FaultKind.RATE_LIMIT,
}
_MALFORMED = (MalformedReplyError, JSONDecodeError, RecursionError, UnicodeDecodeError)
_DIGITS = re.compile(r"limit \(\d+ digits\) for integer string conversion")
"""What Python says of a number in a reply that is too long for it."""
_TIMEOUTS = {"APITimeoutError", "Timeout", "TimeoutError", "TimeoutException"}
_CONNECTIONS = {"APIConnectionError", "ConnectionError", "TransportError", "IncompleteRead"}
_SERVER = {"APIError"}
"""Base class of OpenAI's errors: alone, it is an error told in the middle of a stream."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One attempt to get a reply that failed, or a reply that had to be mended.

    Attributes
    ----------
    kind
        What it was.
    error
        Class name of the exception.
    message
        The provider's words on one line, without secrets.
    attempt
        Which attempt at this reply it was, from 1.
    wait
        Seconds until the request is made again, or None where it is not.
    usage
        What the attempt may have cost; nothing of one that never was under way.
    """

    kind: FaultKind
    error: str
    message: str
    attempt: int
    wait: float | None
    usage: Usage = Usage()  # noqa: RUF009  (frozen)

    def to_data(self) -> dict[str, Any]:
        """Return the data of the trace's event ``fault``."""
        return {
            "fault": self.kind.value,
            "error": self.error,
            "message": self.message,
            "attempt": self.attempt,
            "wait": self.wait,
        }


def diagnose(error: Exception) -> FaultKind:
    """Return what kind of fault an exception of a provider's package is."""
    if isinstance(error, _MALFORMED) or _DIGITS.search(str(error)):
        return FaultKind.MALFORMED
    status = _status(error)
    if status is not None:
        if _tells_too_long(error, status):
            return FaultKind.TOO_LONG
        if status == 404 and _tells_unknown_model(error):
            return FaultKind.UNKNOWN_MODEL
        return _by_status(status, getattr(error, "code", None))
    names = {kind.__name__ for kind in type(error).__mro__}
    for known, kind in (
        ({"ContextOverflowError"}, FaultKind.TOO_LONG),
        ({"APIResponseValidationError"}, FaultKind.MALFORMED),
        (_TIMEOUTS, FaultKind.TIMEOUT),
        (_CONNECTIONS, FaultKind.CONNECTION),
        (_SERVER, FaultKind.SERVER),
    ):
        if names & known:
            return kind
    return FaultKind.TOO_LONG if _TOO_LONG.search(str(error)) else FaultKind.UNKNOWN


def _by_status(status: int, code: object) -> FaultKind:
    if code == "insufficient_quota":
        return FaultKind.QUOTA
    if status >= 500:
        return FaultKind.SERVER
    return _BY_STATUS.get(status, FaultKind.REQUEST)


def _tells_too_long(error: Exception, status: int) -> bool:
    """Whether an error response says that the request is longer than its model takes.

    OpenAI has a code for it; others say it in their words alone, each in their own.
    """
    if status == 429:
        # All other requests may pass after a while; this one is beyond what a minute allows.
        return bool(_BEYOND_A_MINUTE.search(str(error)))
    if status not in _REFUSING:
        return False
    return getattr(error, "code", None) in _LENGTHS or bool(_TOO_LONG.search(str(error)))


def _tells_unknown_model(error: Exception) -> bool:
    code = getattr(error, "code", None)
    return code == "model_not_found" or bool(_UNKNOWN_MODEL.search(str(error)))


_UNKNOWN_MODEL = re.compile(
    r"\bmodel\b.{0,200}\b(?:not found|does not exist|doesn't exist|unknown|not available)"
    r"|\b(?:no such|unknown|unsupported) model\b",
    re.IGNORECASE | re.DOTALL,
)


def told_too_long(words: str) -> bool:
    """Whether words are of `RequestTooLongError`: a cassette keeps nothing else of a failure."""
    return words.startswith(_LONGER_THAN_TAKEN)


_LENGTHS = frozenset({"context_length_exceeded", "string_above_max_length"})
_BEYOND_A_MINUTE = re.compile(r"request too large", re.IGNORECASE)
_TOO_LONG = re.compile(
    r"context[ _](?:length|window|size|limit)|maximum (?:model|prompt|input) length"
    r"|\b(?:prompt|input|request)\b[^.]{0,40} too (?:long|large)\b|request_too_large"
    r"|input token count|tokens in the prompt|reduce the length of|model token limit",
    re.IGNORECASE,
)


def _status(error: Exception) -> int | None:
    """Return the HTTP status of an error response, wherever the package keeps it."""
    response = getattr(error, "response", None)
    for holder, name in (
        (error, "status_code"),
        (error, "http_status"),
        (response, "status_code"),
        (error, "code"),
    ):
        status = getattr(holder, name, None)
        if isinstance(status, int) and 400 <= status < 600:
            return status
    return None


def refused_setting(error: Exception) -> str | None:
    """Return which setting a provider's error says its model does not take, or None.

    Only settings that a request can do without are told: ``stop``, because what follows a stop
    sequence can be cut off here as well, and ``temperature``.
    """
    if _status(error) not in _REFUSING:
        return None
    named = getattr(error, "param", None)
    if named in _DISPENSABLE and getattr(error, "code", None) in _UNSUPPORTED:
        return str(named)
    words = str(error)
    found = _NAMED.search(words) if _REFUSED.search(words) else None
    return found[found.lastindex or 0] if found else None


_REFUSING = frozenset({400, 422})
_DISPENSABLE = ("stop", "temperature")
_UNSUPPORTED = frozenset({"unsupported_parameter", "unsupported_value"})
_REFUSED = re.compile(
    r"unsupported|unrecogni[sz]ed|unknown|unexpected|deprecated|does not support"
    r"|not (?:supported|permitted|allowed)",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"['\"`]({0})['\"`]|\b(?:argument|parameter|field|key|model)\b[^.:]*:\s*({0})\b"
    r"|^\W*({0})\b".format("|".join(_DISPENSABLE)),
    re.IGNORECASE,
)
"""The setting in quotes, after a colon that follows such a word, or as the first word."""


def retry_after(error: Exception, now: float) -> float | None:
    """Return how many seconds the provider asks to wait, or None where it does not say.

    Parameters
    ----------
    error
        The exception of an error response.
    now
        Seconds since 1970, for a ``Retry-After`` that is a date.
    """
    headers = getattr(getattr(error, "response", None), "headers", None)
    said = None if headers is None else headers.get("retry-after")
    if said is None:
        return None
    try:
        seconds = float(said)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(said).timestamp() - now
        except ValueError:
            return None
    return max(0.0, seconds) if seconds - seconds == 0.0 else None


def words_of(error: Exception) -> str:
    """Return an exception's words on one line, without secrets and of bounded length.

    They name the address that was asked, where the exception knows it, and what kept the connection
    from being made, which the packages leave to the exceptions beneath.
    """
    words = shortened(redact(" ".join(str(error).split())), _LONGEST_WORDS)
    about = [part for part in (address_of(error), unreached(error)) if part]
    where = f" ({': '.join(about)})" if about else ""
    name = type(error).__name__
    return f"{name}: {words}{where}" if words else f"{name}{where}"


def address_of(error: Exception) -> str | None:
    """Return the URL that a request went to, without secrets; None where nobody says it."""
    for holder in (error, getattr(error, "response", None)):
        try:
            url = getattr(getattr(holder, "request", None), "url", None)
        except RuntimeError:  # httpx's own, where no request was made
            continue
        if url:
            return redact(str(url))
    return None


def unreached(error: BaseException) -> str | None:
    """Return why no connection was made, and how to mend it; None where one was.

    Packages wrap one another's exceptions, so what is beneath is looked at too.
    """
    seen: BaseException | None = error
    while seen is not None:
        words = f"{type(seen).__name__}: {seen}"
        for kinds, pattern, told in _UNREACHED:
            if isinstance(seen, kinds) or pattern.search(words):
                return told
        seen = seen.__cause__ or seen.__context__
    return None


_UNREACHED: tuple[tuple[tuple[type[BaseException], ...], re.Pattern[str], str], ...] = (
    (
        (ConnectionRefusedError,),
        re.compile(r"connection refused|actively refused|\[Errno (?:111|61)\]", re.IGNORECASE),
        "connection refused: nothing listens there; start the server, or mend --base-url",
    ),
    (
        (socket.gaierror,),
        re.compile(
            r"name or service not known|nodename nor servname|getaddrinfo failed"
            r"|name resolution|no address associated",
            re.IGNORECASE,
        ),
        "no such host: the name cannot be resolved; check --base-url's spelling and the network",
    ),
    (
        (ssl.SSLError,),
        re.compile(r"CERTIFICATE_VERIFY_FAILED|WRONG_VERSION_NUMBER|\[SSL"),
        "no TLS connection: check the certificate, and whether --base-url should begin with http://",
    ),
    (
        (),
        re.compile(
            r"network is unreachable|no route to host|host is unreachable|^ConnectTimeout",
            re.IGNORECASE,
        ),
        "the host cannot be reached: check the network, and --base-url",
    ),
)
