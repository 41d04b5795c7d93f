"""The command ``mcp``, which serves databases to agents."""

from __future__ import annotations

import os
from typing import Annotated, Literal

import typer
from annotated_types import Ge, Le

from dqa.cli import options
from dqa.cli.fields import DECIDING, given_by, spec_fields
from dqa.cli.options import with_options
from dqa.core.database import DEFAULT_LIMITS
from dqa.evaluation.options import CallOptions

_DECIDING = DECIDING._replace(names=(*DECIDING.names, "seconds"))


@with_options(_DECIDING)
def mcp(  # noqa: PLR0913  (one parameter per option)
    *,
    ctx: typer.Context,
    database: list[str],
    access: options.AccessOptions,
    transport: Literal["stdio", "http"] = "stdio",
    host: str = "127.0.0.1",
    port: Annotated[int, Ge(0), Le(65535)] = 8000,
    allow_host: list[str] | None = None,
    model: str = "",
    decider: str | None = None,
    scenario: list[str] | None = None,
    calling: CallOptions,
) -> None:
    """Serve databases to agents over the Model Context Protocol (MCP), read-only.

    Every statement is checked, limited and recorded. The tool 'ask' makes a decision; it needs
    --model or --decider.

    Parameters
    ----------
    database : [NAME=]URL|PATH
        Database that agents may read. May be repeated; then give each database a name (NAME=URL).
    transport
        How clients connect: over standard input and output, or over streamable HTTP.
    host : ADDRESS
        Address to listen on, with --transport http.
    port
        Port to listen on, with --transport http. 0 selects a free port.
    allow_host : NAME
        Accept requests for this host name, in addition to --host. May be repeated. Required if the
        server listens on all addresses.
    model : PROVIDER:MODEL
        Chat model of the tool 'ask', for example openai:NAME.
    decider : NAME
        Decider of the tool 'ask'. By default, the default decider of the installed packages.
    scenario : NAME|DIR
        Scenario that 'ask' may decide. May be repeated.
    """
    from dqa.api.asking import Decisions
    from dqa.api.mcp_server import serve_mcp

    fields = spec_fields(given_by(ctx, _DECIDING.names))
    limits, decisions = fields.get("limits", DEFAULT_LIMITS), None
    if not model:  # options such as --base-url do not choose a model
        fields.pop("model", None)
    if model or decider is not None:
        decisions = Decisions(decider, calls=calling, scenarios=scenario or (), **fields)
    serve_mcp(
        database,
        **access.fields(),
        limits=limits,
        decisions=decisions,
        transport=transport,
        host=host,
        port=port,
        allowed_hosts=allow_host or (),
    )
    os._exit(0)  # do not wait for running calls
