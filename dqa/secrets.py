"""Keeping secrets out of everything that is shown or written."""

from __future__ import annotations

import os
import re

__all__ = ["redact"]

_URL_PASSWORD = re.compile(r"(?P<before>[a-z][a-z0-9+.-]*://[^\s:/@]*):[^\s/@]+@", re.IGNORECASE)
_API_KEY = re.compile(r"\b(?:sk|pk|key|api)-[A-Za-z0-9_*-]{8,}")
_BEARER = re.compile(r"(?P<before>\bBearer\s+)\S+", re.IGNORECASE)
_SECRET_VARIABLE = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD)$")
_SHORTEST_SECRET = 6


def redact(text: str) -> str:
    """Return `text` without passwords in URLs, API keys or values of secret variables."""
    for name, value in sorted(os.environ.items()):
        if len(value) >= _SHORTEST_SECRET and _SECRET_VARIABLE.search(name.upper()):
            text = text.replace(value, "***")
    text = _URL_PASSWORD.sub(r"\g<before>:***@", text)
    text = _BEARER.sub(r"\g<before>***", text)
    return _API_KEY.sub("***", text)
