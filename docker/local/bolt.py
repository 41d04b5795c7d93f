"""A Neo4j readiness probe in the standard library: one real query over Bolt 5.1."""

import socket
import struct

_MAGIC = b"\x60\x60\xb0\x17"
_VERSIONS = b"\x00\x00\x01\x05" + bytes(12)  # Bolt 5.1 and nothing else
_HELLO, _GOODBYE, _LOGON, _RUN, _PULL = 0x01, 0x02, 0x6A, 0x10, 0x3F
_SUCCESS, _RECORD = 0x70, 0x71


def answers(port: int, user: str, password: str, timeout: float = 2.0) -> bool:
    """Tell whether the server on a loopback port logs the user in and runs ``RETURN 1``.

    Parameters
    ----------
    port
        Port of 127.0.0.1 that speaks Bolt.
    user, password
        Whom to log in as.
    timeout
        Seconds to wait for each part of the conversation.

    Returns
    -------
    bool
        False while nothing listens, the handshake fails, or any message is not answered
        with success: a server that is still starting does all three.
    """
    login = {"scheme": "basic", "principal": user, "credentials": password}
    conversation = (
        (_message(_HELLO, {"user_agent": "dqa-probe/1"}), [_SUCCESS]),
        (_message(_LOGON, login), [_SUCCESS]),
        (_message(_RUN, "RETURN 1", {}, {}), [_SUCCESS]),
        (_message(_PULL, {"n": -1}), [_RECORD, _SUCCESS]),
    )
    try:
        with socket.create_connection(("127.0.0.1", port), timeout) as connection:
            connection.sendall(_MAGIC + _VERSIONS)
            if _receive(connection, 4) != _VERSIONS[:4]:
                return False
            for message, expected in conversation:
                connection.sendall(message)
                if [_reply(connection) for _ in expected] != expected:
                    return False
            connection.sendall(_message(_GOODBYE))
            return True
    except OSError:
        return False


def _message(tag: int, *fields: object) -> bytes:
    body = bytes((0xB0 + len(fields), tag)) + b"".join(map(_pack, fields))
    return struct.pack(">H", len(body)) + body + b"\x00\x00"


def _pack(value: object) -> bytes:
    """Encode as PackStream; the sizes a probe needs, not all the format has."""
    match value:
        case int():
            return struct.pack(">b", value)
        case str():
            text = value.encode()
            return b"\xd0" + struct.pack(">B", len(text)) + text
        case dict():
            pairs = b"".join(_pack(key) + _pack(item) for key, item in value.items())
            return bytes((0xA0 + len(value),)) + pairs
        case _:
            raise TypeError(f"a probe message holds integers, texts and maps, not {value!r}")


def _reply(connection: socket.socket) -> int:
    """Read one chunked message and return what kind it is."""
    message = b""
    while True:
        size = int.from_bytes(_receive(connection, 2), "big")
        if size:
            message += _receive(connection, size)
        elif message:  # an empty chunk before any content only keeps the connection alive
            return message[1]


def _receive(connection: socket.socket, size: int) -> bytes:
    received = b""
    while len(received) < size:
        part = connection.recv(size - len(received))
        if not part:
            raise ConnectionError("the server closed the connection")
        received += part
    return received
