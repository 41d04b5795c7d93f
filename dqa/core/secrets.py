"""Keeping secrets out of everything that is shown or written."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any

_URL_PASSWORD = re.compile(
    r"(?P<before>://[^\s:/\"'<>]*):"
    r"(?!\d{1,5}(?:[\s/?#\"'<>,;)\]}]|$))"  # a port
    r"(?:(?!://)\S)+@"  # to the last @: a password may hold one, and a slash, unescaped
)
_API_KEY = re.compile(r"\bsk-(?=[A-Za-z_*-]{0,200}\d|\S{0,200}\*)[A-Za-z0-9_*-]{12,}")
_BEARER = re.compile(r"(?P<before>\bBearer\s+)\S+", re.IGNORECASE)
_BASIC = re.compile(r"\bBasic\s+(?P<encoded>[A-Za-z0-9+/_-]{4,}={0,2})", re.IGNORECASE)
_PARAMETERS = ("key", "token", "secret", "password", "passwd", "pwd", "sig", "signature")
_PARAMETER = re.compile(
    r"(?P<before>[?&](?:[a-z0-9]+[-_.])*(?:api|access|auth)?"
    rf"(?:{'|'.join(_PARAMETERS)})=)[^&\s#'\"]+",
    re.IGNORECASE,
)
_MARKS = ("://", "bearer", "basic", "sk-")
"""In lower case, one of these is in whatever is found by these patterns, or `_IN_QUERIES` is."""
_IN_QUERIES = tuple(f"{name}=" for name in _PARAMETERS)
_SECRET_VARIABLE = re.compile(r"(?:^|_)(?:API_KEY|ACCESS_KEY|SECRET_KEY|TOKEN|SECRET|PASSWORD)$")
_SHORTEST_SECRET = 8
_TEXTLESS = frozenset({bool, int, float, type(None)})


@lru_cache(maxsize=4096)
def _is_secret(variable: str) -> bool:
    return _SECRET_VARIABLE.search(variable.upper()) is not None


def redact(text: str) -> str:
    """Return `text` without passwords in URLs, API keys or values of secret variables.

    For messages of servers and providers, which may repeat what they were sent. What a decision
    is about (questions, candidates, choices) is not passed through here: a name that happens to
    look like a key must stay what it is.
    """
    for value in _secret_values():
        text = text.replace(value, "***")
    # Most texts hold none of this, and a long one is looked through much faster for plain words.
    words = _in_lower_case(text)
    if "://" in words:
        text = _URL_PASSWORD.sub(r"\g<before>:***@", text)
    if "bearer" in words:
        text = _BEARER.sub(r"\g<before>***", text)
    if "basic" in words:
        text = _BASIC.sub(_without_credentials, text)
    if _has_query(words):
        text = _PARAMETER.sub(r"\g<before>***", text)
    return _API_KEY.sub("***", text) if "sk-" in words else text


def may_hold_secret(line: str) -> bool:
    """Whether a JSON value may hold a secret, by its line as `dump_line` writes it.

    For whoever writes many long lines, in which there is almost never one: what says false needs no
    `redacted`, and true means nothing yet.
    """
    from dqa.core.records import dump_line  # not before: this module is imported by every command

    words = _in_lower_case(line)
    return (
        "\\u" in line  # a character that is not written as it is, and may be a secret's
        or any(mark in words for mark in _MARKS)
        or (_has_query(words) and any(mark in words for mark in _IN_QUERIES))
        or any(dump_line(value)[1:-1] in line for value in _secret_values())
    )


def _has_query(text: str) -> bool:
    return "=" in text and ("?" in text or "&" in text)


def _in_lower_case(text: str) -> str:
    """Return a text in which small letters stand for all that the patterns take for them."""
    if text.isascii():
        return text.lower()
    # An i without a dot, and a capital one with it, are an i to them, and not to `casefold`.
    return text.replace("\u0131", "i").replace("\u0130", "i").casefold()


def _secret_values() -> list[str]:
    """Return the values of secret variables, in the order of their names."""
    # By name first: there are many variables, few of them are secret, and this runs all the time.
    found = (os.environ.get(name, "") for name in sorted(filter(_is_secret, os.environ)))
    return [value for value in found if len(value) >= _SHORTEST_SECRET]


def _without_credentials(found: re.Match[str]) -> str:
    """Return ``Basic ***`` where what follows is a user and a password, and no other word."""
    encoded = found["encoded"].rstrip("=")
    try:
        told = base64.b64decode(encoded + "=" * (-len(encoded) % 4), altchars=b"-_").decode()
    except ValueError:
        return found[0]
    return "Basic ***" if ":" in told else found[0]


def redacted(value: Any) -> Any:  # noqa: ANN401  (any JSON value)
    """Return a JSON value with every secret in its texts redacted."""
    # Almost nothing holds a secret: all texts are looked through at once, and only a value that
    # does hold one is taken apart.
    everything = "\n".join(_texts(value))
    return value if redact(everything) == everything else _redacted_value(value)


def _texts(value: Any) -> Collection[str]:  # noqa: ANN401  (any JSON value)
    """Return the texts of a JSON value, each once."""
    found: dict[str, None] = {}
    left = [value]
    while left:  # most of a trace are numbers in lists, for which recursion takes long
        item = left.pop()
        if type(item) in _TEXTLESS:
            continue
        if isinstance(item, str):
            found[item] = None
        elif isinstance(item, list | tuple):
            if not _TEXTLESS.issuperset(map(type, item)):
                left.extend(item)
        elif isinstance(item, Mapping):
            left.extend(item.values())
    return found


def _redacted_value(value: Any) -> Any:  # noqa: ANN401  (any JSON value)
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {key: _redacted_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_redacted_value(item) for item in value]
    return value
