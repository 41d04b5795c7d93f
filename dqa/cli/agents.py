"""The command that serves databases to agents."""

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
    """Let agents read databases by the Model Context Protocol: checked, bounded and audited.

    Parameters
    ----------
    database
        Database that agents may read; may be repeated, by names.
    transport
        How clients connect: by standard input and output, or by streamable HTTP.
    host
        Address to listen at, with --transport http.
    port
        Port, with --transport http; 0 for any free one.
    allow_host
        Another host name of this server, next to --host; may be repeated. Needed if it listens at
        every address.
    model
        Chat model with which the tool 'ask' decides; without --model and --decider it refuses.
    decider
        The decider; by default the one that a package names for it.
    scenario
        Scenario whose question 'ask' may be asked; may be repeated.
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
