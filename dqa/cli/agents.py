"""The command ``mcp``, which serves databases to agents."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal

from dqa.cli import options
from dqa.cli.completion import by_model, by_name, one_of
from dqa.cli.fields import DECIDING
from dqa.cli.help import DATABASES, MODELS, OUTPUT, QUESTIONS
from dqa.cli.options import option, with_options
from dqa.evaluation.options import CallOptions

_DECIDING = replace(DECIDING, names=(*DECIDING.names, "seconds"))


@with_options(deciding=_DECIDING, calling=CallOptions, access=options.AccessOptions)
def mcp(  # noqa: PLR0913  (one parameter per option)
    *,
    database: Annotated[list[str], option("--database [NAME=]URL|PATH", DATABASES)],
    access: options.AccessOptions,
    transport: Annotated[
        Literal["stdio", "http"],
        option("--transport stdio|http", OUTPUT, complete=one_of(("stdio", "http"))),
    ] = "stdio",
    host: Annotated[str, option("--host ADDRESS", OUTPUT)] = "127.0.0.1",
    port: Annotated[int, option("--port N", OUTPUT, least=0, most=65535)] = 8000,
    allow_host: Annotated[list[str] | None, option("--allow-host NAME", OUTPUT)] = None,
    model: Annotated[str, option("--model PROVIDER:MODEL", MODELS, complete=by_model)] = "",
    decider: Annotated[
        str | None, option("--decider NAME", MODELS, complete=by_name("decider"))
    ] = None,
    scenario: Annotated[
        list[str] | None, option("--scenario NAME|DIR", QUESTIONS, complete=by_name("scenario"))
    ] = None,
    deciding: dict[str, Any],
    calling: CallOptions,
) -> None:
    """Serve databases to agents over the Model Context Protocol (MCP), read-only.

    Every statement is checked, limited and recorded. The tool 'ask' makes a decision; it needs
    --model or --decider.

    Parameters
    ----------
    database
        Database that agents may read. May be repeated; then name each one (NAME=URL).
    transport
        How clients connect: over standard input and output, or over streamable HTTP.
    host
        Address to listen on, with --transport http.
    port
        Port to listen on, with --transport http. 0 selects a free port.
    allow_host
        Accept requests for this host name, in addition to --host. May be repeated. Needed if the
        server listens on all addresses.
    model
        Chat model of the tool 'ask', for example openai:NAME.
    decider
        Decider of the tool 'ask'. By default, the default decider of the installed packages.
    scenario
        Scenario that 'ask' may decide. May be repeated.
    """
    from dqa.api.agents import Decisions
    from dqa.api.mcp_server import serve_mcp

    decisions = None
    if model or decider is not None:
        if not model:
            del deciding["model"]
        decisions = Decisions(decider, calls=calling, scenarios=scenario or (), **deciding)
    serve_mcp(
        database,
        **access.fields(),
        limits=deciding["limits"],
        decisions=decisions,
        transport=transport,
        host=host,
        port=port,
        allowed_hosts=allow_host or (),
    )
