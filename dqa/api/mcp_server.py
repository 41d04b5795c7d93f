"""Serve the tools of `dqa.api.agents` with the Model Context Protocol (extra ``mcp``)."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias
from weakref import WeakValueDictionary

from dqa.api.agents import ASK, Decided, bounded, langchain_tools
from dqa.api.asking import Decisions
from dqa.api.databases import open_database
from dqa.core.database import DEFAULT_LIMITS, Database, Limits
from dqa.core.distribution import install_command, own_version
from dqa.core.errors import DqaError, MissingKeyError, UsageError
from dqa.core.evidence import QUERY, SAMPLE, Evidence
from dqa.core.secrets import redact
from dqa.deciders.tools import schema_of
from dqa.guard import Audit, Policy

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool
    from mcp.server.lowlevel.server import Server
    from mcp_types import CallToolResult, Tool

Transport: TypeAlias = Literal["stdio", "http"]

PATH = "/mcp"
"""The path of the server's HTTP endpoint."""
_LOCAL = ("127.0.0.1", "localhost", "::1")
_ANYWHERE = ("0.0.0.0", "::", "")  # noqa: S104  (refused without names)
_MOST_OF_CLIENT = 8
"""The maximum number of concurrent calls of one client. Further calls of that client wait."""


def mcp_server(
    database: Database, *, limits: Limits = DEFAULT_LIMITS, decisions: Decisions | None = None
) -> Server[Any]:
    """Return a server of the Model Context Protocol for an open database.

    The server is an object of the official SDK. Its method ``streamable_http_app()`` returns an
    ASGI application; ``mcp.Client(server)`` connects to it in the same process. `serve_mcp` also
    opens the database and runs the server.

    Parameters
    ----------
    database, limits, decisions
        See `langchain_tools`. The database stays open until the caller closes it.

    Raises
    ------
    MissingKeyError
        The extra ``mcp`` is not installed.
    """
    _require_sdk()
    from anyio import CapacityLimiter, to_thread
    from mcp import MCPError
    from mcp.server.lowlevel.server import Server
    from mcp_types import INVALID_PARAMS, ListToolsResult

    offered = langchain_tools(database, limits=limits, decisions=decisions)
    tools = {tool.name: tool for tool in offered}
    listed = [_listed(tool) for tool in tools.values()]
    clients: WeakValueDictionary[tuple[str, ...], CapacityLimiter] = WeakValueDictionary()

    async def list_tools(*_request: object) -> ListToolsResult:
        return ListToolsResult(tools=listed)

    async def call_tool(context: object, request: Any) -> CallToolResult:  # noqa: ANN401  (the SDK's)
        tool = tools.get(request.name)
        if tool is None:
            known = ", ".join(tools)
            raise MCPError(
                INVALID_PARAMS, f"There is no tool '{request.name}'. The tools are {known}."
            )
        client = clients.setdefault(_client_of(context), CapacityLimiter(_MOST_OF_CLIENT))
        call = partial(_called, tool, request.arguments or {})
        return await to_thread.run_sync(call, abandon_on_cancel=True, limiter=client)

    return Server(
        "dqa",
        version=own_version(),
        instructions=_INSTRUCTIONS.format(database.language),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def serve_mcp(  # noqa: PLR0913  (each is a question of its own to the caller)
    database: str | Path,
    *,
    tables: Sequence[str] = (),
    policy: Policy | Path | str | None = None,
    audit: Audit | Path | str | None = None,
    limits: Limits = DEFAULT_LIMITS,
    decisions: Decisions | None = None,
    transport: Transport = "stdio",
    host: str = "127.0.0.1",
    port: int = 8000,
    allowed_hosts: Sequence[str] = (),
) -> None:
    """Open a database and serve it to agents until the client disconnects or a signal arrives.

    Ctrl-C or SIGTERM ends the process immediately, even if calls are running. If the client
    disconnects, the process first waits until all running calls have ended.

    Parameters
    ----------
    database, tables, policy, audit
        See `open_database`.
    limits, decisions
        See `mcp_server`.
    transport
        ``stdio``, for a client that starts this process, or ``http``.
    host, port
        The address of the HTTP server. Port 0 selects a free port.
    allowed_hosts
        Host names that clients may send in the ``Host`` header, in addition to `host`. If other
        machines can reach the server, at least one name is required. Requests with any other host
        name are rejected, so that a web page cannot reach the server through DNS rebinding.

    Raises
    ------
    UsageError
        The database cannot be opened with these arguments, or the port cannot be used.
    MissingKeyError
        The extra ``mcp``, or a driver, is not installed.
    DatabaseUnavailableError
        The database cannot be reached.
    """
    _require_sdk()
    import anyio

    with ExitStack() as stack:
        listening = None
        names: tuple[str, ...] = ()
        if transport == "http":
            names = _names(host, allowed_hosts)
            listening = stack.enter_context(_listen(host, port))
            # Accepted sockets inherit this option. Without it, each call waits 40 ms.
            listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        opened = open_database(database, limits=limits, policy=policy, audit=audit, tables=tables)
        stack.callback(opened.close)
        server = mcp_server(opened, limits=limits, decisions=decisions)
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                stack.callback(signal.signal, number, signal.signal(number, _exit))
        if listening is None:
            anyio.run(_serve_stdio, server)
        else:
            anyio.run(_serve_http, server, listening, host, names)


def _require_sdk() -> None:
    try:
        import mcp.server.lowlevel.server  # noqa: F401
    except ImportError as error:
        raise MissingKeyError(
            f"The SDK of the Model Context Protocol is not installed ({error}). Install it: "
            f"{install_command('mcp')}."
        ) from error


def _listed(tool: BaseTool) -> Tool:
    from mcp_types import Tool, ToolAnnotations

    return Tool(
        name=tool.name,
        description=tool.description,
        input_schema=schema_of(tool).model_json_schema(),
        annotations=ToolAnnotations(
            read_only_hint=True,
            destructive_hint=False,
            idempotent_hint=tool.name != ASK,
            open_world_hint=tool.name == ASK,
        ),
    )


_INSTRUCTIONS = (
    "Read-only access to a database: {}. Look with schema, find_columns, describe_table and "
    "sample_rows, then query. Every statement is checked before it runs. Its rows, bytes and "
    "seconds are limited. If the server has an audit, it records every statement. An error says "
    "what to change."
)


def _client_of(context: Any) -> tuple[str, ...]:  # noqa: ANN401  (the SDK's)
    """Return the address and the credentials of a client, which identify the client.

    Over standard input and output, there is only one client and the result is ``()``.
    """
    request = getattr(context, "request", None)
    if request is None:  # standard input and output have one client
        return ()
    host = request.client.host if request.client else ""
    return host, request.headers.get("authorization", "")


def _called(tool: BaseTool, arguments: Mapping[str, Any]) -> CallToolResult:
    """Call a tool.

    If the agent can fix an error, return the error as a result. Raise any other failure.
    """
    from mcp import MCPError
    from mcp_types import INTERNAL_ERROR, CallToolResult, TextContent

    call = {"type": "tool_call", "id": tool.name, "name": tool.name, "args": dict(arguments)}
    try:
        message = tool.invoke(call)
    except DqaError as error:
        raise MCPError(INTERNAL_ERROR, bounded(str(error))) from error
    except Exception as error:
        # The message of a bug may contain secrets, so the client gets only the class of the error.
        sys.stderr.write(redact(traceback.format_exc()))
        kind = type(error).__name__
        raise MCPError(
            INTERNAL_ERROR, f"The tool {tool.name} failed because of a bug in dqa ({kind})."
        ) from error
    found, text = message.artifact, message.text
    failed = message.status == "error" or (isinstance(found, Evidence) and found.error is not None)
    return CallToolResult(
        content=[TextContent(type="text", text=bounded(text) if failed else text)],
        structured_content=None if failed else _data(found),
        is_error=failed,
    )


def _data(found: Decided | Evidence | None) -> dict[str, Any] | None:
    """Return a decision, or the rows of a statement, as data for programs."""
    if isinstance(found, Decided):
        return dict(_exact(found.to_json()))
    if found is None or found.tool not in {QUERY, SAMPLE} or len(found.rows) < found.row_count:
        return None
    data = {name: getattr(found, name) for name in ("columns", "rows", "cut", "total")}
    return dict(_exact(data))


_LARGEST = 2**53 - 1
"""The largest integer that every JSON reader represents exactly."""


def _exact(value: Any) -> Any:  # noqa: ANN401  (any JSON value)
    """Convert integers above `_LARGEST` in a JSON value to texts."""
    if isinstance(value, dict):
        return {key: _exact(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return list(map(_exact, value))
    return str(value) if isinstance(value, int) and abs(value) > _LARGEST else value


async def _serve_stdio(server: Server[Any]) -> None:
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


async def _serve_http(
    server: Server[Any], listening: socket.socket, host: str, names: Sequence[str]
) -> None:
    import uvicorn
    from mcp.server.transport_security import TransportSecuritySettings

    class HttpServer(uvicorn.Server):
        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            _exit(sig, frame)  # uvicorn would wait for streams that clients keep open

    # The SDK compares patterns such as `localhost:*` by prefix, so every name needs a port.
    where = listening.getsockname()
    hosts = [f"{name}{port}" for name in names for port in ("", f":{where[1]}")]
    security = TransportSecuritySettings(
        allowed_hosts=hosts,
        allowed_origins=[f"{scheme}://{each}" for scheme in ("http", "https") for each in hosts],
    )
    app = server.streamable_http_app(
        streamable_http_path=PATH, stateless_http=True, host=host, transport_security=security
    )
    shown = f"[{host}]" if ":" in host else host
    sys.stderr.write(f"Serving at http://{shown}:{where[1]}{PATH}\n")
    sys.stderr.flush()
    config = uvicorn.Config(app, log_level="warning", log_config=None, lifespan="on")
    await HttpServer(config).serve(sockets=[listening])


def _names(host: str, allowed: Sequence[str]) -> tuple[str, ...]:
    """Return the host names that the server accepts."""
    if host in _LOCAL:
        return (*("127.0.0.1", "localhost", "[::1]"), *allowed)
    if host in _ANYWHERE and not allowed:
        raise UsageError(
            f"With the host {host} (--host), other machines can reach the server by any name. "
            "List the host names by which clients call it (--allow-host NAME). Requests for "
            "other host names are then refused: a web page could send them. The server does not "
            "authenticate clients: use a proxy that does."
        )
    return (*(() if host in _ANYWHERE else (host,)), *allowed)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        problem = getattr(error, "strerror", None) or error
        raise UsageError(
            f"Cannot listen at {host}, port {port} (--host, --port): {problem}. Choose another "
            "address or port."
        ) from error


def _exit(number: int, _frame: FrameType | None) -> NoReturn:
    """End the process on a signal, without waiting for calls or input."""
    # Worker processes end too, because their connections to this process close.
    os.write(2, b"Interrupted.\n" if number == signal.SIGINT else b"")
    os._exit(128 + number)
