"""Remove secrets from text that is shown or written."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

_URL_PASSWORD = re.compile(
    r"(?P<before>://[^\s:/\"'<>]*):"
    r"(?!\d{1,5}(?:[\s/?#\"'<>,;)\]}]|$))"  # a port
    r"(?:(?!://)\S)+@"  # up to the last @, because a password may contain @ and /
)
_API_KEY = re.compile(r"\bsk-(?=[A-Za-z_*-]{0,200}\d|\S{0,200}\*)[A-Za-z0-9_*-]{12,}")
_BEARER = re.compile(r"(?P<before>\bBearer\s+)\S+", re.IGNORECASE)
_BASIC = re.compile(r"\bBasic\s+(?P<encoded>[A-Za-z0-9+/_-]{4,}={0,2})", re.IGNORECASE)
_PARAMETER = re.compile(
    r"(?P<before>[?&](?:[a-z0-9]+[-_.])*(?:api|access|auth)?"
    r"(?:key|token|secret|password|passwd|pwd|sig|signature)=)[^&\s#'\"]+",
    re.IGNORECASE,
)
_SECRET_VARIABLE = re.compile(r"(?:^|_)(?:API_KEY|ACCESS_KEY|SECRET_KEY|TOKEN|SECRET|PASSWORD)$")
_SHORTEST_SECRET = 8


def _without_credentials(found: re.Match[str]) -> str:
    """Return ``Basic ***`` for an HTTP Basic login, and any other text unchanged."""
    encoded = found["encoded"].rstrip("=")
    try:
        decoded = base64.b64decode(encoded + "=" * (-len(encoded) % 4), altchars=b"-_").decode()
    except ValueError:
        return found[0]
    return "Basic ***" if ":" in decoded else found[0]


_PATTERNS: Sequence[tuple[str, re.Pattern[str], str | Callable[[re.Match[str]], str]]] = (
    ("://", _URL_PASSWORD, r"\g<before>:***@"),
    ("bearer", _BEARER, r"\g<before>***"),
    ("basic", _BASIC, _without_credentials),
    ("=", _PARAMETER, r"\g<before>***"),
    ("sk-", _API_KEY, "***"),
)
"""For each secret: a lower-case text that must occur, a pattern, and the replacement."""


def redact(text: str) -> str:
    """Return a text without passwords in URLs, API keys or values of secret variables.

    Use this function for messages, prompts and replies. Do not use it for questions, candidates and
    choices, because the name of a candidate may look like an API key.
    """
    return str(redacted(text))


def redacted(value: Any, secrets: Sequence[str] | None = None) -> Any:  # noqa: ANN401  (any JSON value)
    """Remove every secret from the texts of a JSON value."""
    secrets = _secret_values() if secrets is None else secrets
    if isinstance(value, str):
        return _redact(value, secrets)
    if isinstance(value, Mapping):
        return {key: redacted(item, secrets) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [redacted(item, secrets) for item in value]
    return value


def _redact(text: str, secrets: Sequence[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, "***")
    lower = text.lower()
    for mark, pattern, replacement in _PATTERNS:
        if mark in lower:
            text = pattern.sub(replacement, text)
    return text


@lru_cache(maxsize=4096)
def _is_secret(variable: str) -> bool:
    return _SECRET_VARIABLE.search(variable.upper()) is not None


def _secret_values() -> list[str]:
    """Return the values of secret variables, the longest first."""
    values = {os.environ.get(name, "") for name in os.environ if _is_secret(name)}
    return sorted((value for value in values if len(value) >= _SHORTEST_SECRET), key=len)[::-1]
