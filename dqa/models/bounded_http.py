"""The HTTP client of OpenAI-compatible models: replies of bounded size and time, from one host.

A reply is counted as it comes and as it is unpacked, so one that is too large is never held. What
has a key in it goes to the host that the user named, and to no other one.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import openai

from dqa.core.errors import MalformedReplyError, UsageError
from dqa.core.secrets import redact

if TYPE_CHECKING:
    import httpx2 as httpx
else:
    # That, or httpx, which it mirrors: whichever the installed client is made of.
    httpx = import_module(openai.DefaultHttpxClient.__base__.__module__.partition(".")[0])

_PACKED = frozenset({"", "identity", "gzip", "deflate"})
"""What a reply may be packed as: each piece that comes unpacks to a bounded one."""

_EVENTS = 16
"""How many times as large a stream of events may be: each has a frame around its few letters."""

_PATIENCE = 10.0
"""How many times as long as its server may be silent a reply may take from its first byte on."""

_clients: dict[tuple[int, float, str | None], httpx.Client] = {}
_made: WeakSet[httpx.Client] = WeakSet()
_lock = threading.Lock()


def bounded_client(most: int, silence: float, proxy: str | None = None) -> httpx.Client:
    """Return the client for replies of at most `most` bytes; models share its connections.

    Parameters
    ----------
    most
        Bytes of a reply, unpacked.
    silence
        Seconds that a server may be silent; a whole reply may take ten times as long.
    proxy
        What stands between; None for what the environment says.
    """
    with _lock:
        found: httpx.Client | None = _clients.get((most, silence, proxy))
        if found is None or found.is_closed:
            bounds = _Bounds(most, silence * _PATIENCE)
            found = _clients[most, silence, proxy] = openai.DefaultHttpxClient(
                proxy=proxy,
                headers={"Accept-Encoding": "gzip, deflate"},
                event_hooks={"response": [bounds.apply]},
            )
            _made.add(found)
        return found


def close_clients() -> None:
    """Close the connections of all models of this process."""
    for client in tuple(_made):
        client.close()


class _Bounds:
    """What a reply may be."""

    def __init__(self, most: int, seconds: float) -> None:
        self._most = most
        self._seconds = seconds

    def apply(self, response: httpx.Response) -> None:
        """Bound what will be read of a reply whose head has come.

        Raises
        ------
        UsageError
            It sends the request on to another host.
        MalformedReplyError
            It is packed in a way that nobody asked for.
        """
        _refuse_other_host(response)
        packed = response.headers.get("content-encoding", "").strip().lower()
        if packed not in _PACKED:
            raise MalformedReplyError(f"The server's answer is packed as '{packed[:40]}'.")
        most = self._most
        if response.headers.get("content-type", "").startswith("text/event-stream"):
            most *= _EVENTS
        silent = response.is_error  # whose words are as good without their end
        unpacking = httpx.Response(
            response.status_code,
            headers=response.headers,
            stream=_Counted(response.stream, most, self._seconds, silent=silent),
            request=response.request,
        )
        # From here on it is as if the server had sent it unpacked.
        response.headers.pop("content-encoding", None)
        response.stream = _Counted(_Unpacked(unpacking), most, self._seconds, silent=silent)


class _Unpacked(httpx.SyncByteStream):
    """A reply's bytes, unpacked piece by piece."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response

    def __iter__(self) -> Iterator[bytes]:
        return self._response.iter_bytes()

    def close(self) -> None:
        self._response.close()


class _Counted(httpx.SyncByteStream):
    """Bytes that end, or fail, where they become too many or too slow."""

    def __init__(self, stream: Any, most: int, seconds: float, *, silent: bool) -> None:  # noqa: ANN401
        self._stream = stream
        self._most = most
        self._until = time.monotonic() + seconds
        self._seconds = seconds
        self._silent = silent

    def __iter__(self) -> Iterator[bytes]:
        left = self._most
        for piece in self._stream:
            left -= len(piece)
            late = time.monotonic() > self._until
            if left < 0 and self._silent:
                yield piece[: left + len(piece)]
                return
            if left < 0 or late:
                problem = f"longer than {self._seconds:,g} s" if late else self._size
                raise MalformedReplyError(f"The server's answer is {problem}.")
            yield piece

    @property
    def _size(self) -> str:
        return (
            f"larger than {self._most:,} bytes, the most that is read (--reply-limit sets how "
            "large a reply may be)"
        )

    def close(self) -> None:
        self._stream.close()


def _refuse_other_host(response: httpx.Response) -> None:
    """Raise `UsageError` where a request is sent on to another host, or out of TLS."""
    if not response.has_redirect_location:
        return
    asked = response.request.url
    try:
        told = asked.join(response.headers["location"])
    except httpx.InvalidURL as error:
        raise MalformedReplyError(f"The server sends requests on to no URL: {error}") from error
    same = told.host == asked.host
    if same and (told.scheme, told.port) == (asked.scheme, asked.port):
        return
    if same and (asked.scheme, told.scheme) == ("http", "https"):
        return
    origin = told.copy_with(path="/", query=None, fragment=None)
    raise UsageError(
        f"The server at {redact(str(asked))} sends requests on to {redact(str(origin))}: nothing "
        "was sent there, for it would have had the key and the question. Where that is the right "
        "server, name its address as --base-url."
    )
