"""``dqa mcp``: databases for other people's agents, by the Model Context Protocol."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from dqa.cli import options
from dqa.cli.bundles import with_options
from dqa.cli.completion import by_model, by_name, one_of
from dqa.cli.help import DATABASES, LIMITS, MODELS, OUTPUT, QUESTIONS
from dqa.cli.shared_bundles import DecidingOptions
from dqa.core.database import Limits
from dqa.evaluation.options import CallOptions

if TYPE_CHECKING:
    from dqa.api.deciding import Decisions


@dataclass(frozen=True, slots=True)
class ServingOptions(DecidingOptions):
    """The same, where nothing is decided unless a model or a decider is named."""

    model: Annotated[
        str,
        typer.Option(
            "--model",
            metavar="PROVIDER:MODEL",
            help="Chat model by which the tool 'ask' decides; without --model and --decider it "
            "refuses.",
            autocompletion=by_model,
            rich_help_panel=MODELS,
        ),
    ] = ""
    decider: Annotated[
        str | None,
        typer.Option(
            "--decider",
            metavar="NAME",
            help="Who decides what 'ask' is asked; by default the one that a package names for it.",
            autocompletion=by_name("decider"),
            rich_help_panel=MODELS,
        ),
    ] = None
    seconds: Annotated[
        float,
        typer.Option(
            "--seconds",
            metavar="X",
            min=0.1,
            help="Most seconds that one statement may take.",
            rich_help_panel=LIMITS,
        ),
    ] = 10.0
    scenario: Annotated[
        list[str] | None,
        typer.Option(
            "--scenario",
            metavar="NAME|DIR",
            help="Scenario whose question may be asked of 'ask'; may be given several times.",
            autocompletion=by_name("scenario"),
            rich_help_panel=QUESTIONS,
        ),
    ] = None

    @property
    def limits(self) -> Limits:
        """What a statement may cost."""
        return Limits(rows=self.row_limit, seconds=self.seconds)

    def decisions(self, calling: CallOptions) -> Decisions | None:
        """Return who decides; None where neither a model nor a decider is named."""
        from dqa.api.deciding import Decisions

        if not self.model and self.decider is None:
            return None
        fields = self.fields(rule_set=None)
        fields["limits"] = self.limits
        if not self.model:
            del fields["model"]
        return Decisions(self.decider, calls=calling, scenarios=self.scenario or (), **fields)


@with_options(asking=ServingOptions, calling=CallOptions)
def mcp(  # noqa: PLR0913  (one parameter an option)
    *,
    database: Annotated[
        list[str],
        typer.Option(
            "--database",
            metavar="[NAME=]URL|PATH",
            help="Database that agents may read; may be given several times, by names.",
            rich_help_panel=DATABASES,
        ),
    ],
    tables: options.Tables = None,
    policy: options.Policy = None,
    audit: options.AuditFile = None,
    transport: Annotated[
        Literal["stdio", "http"],
        typer.Option(
            "--transport",
            metavar="stdio|http",
            help="How clients talk to it: by standard input and output, as those do that start it, "
            "or by streamable HTTP.",
            autocompletion=one_of(("stdio", "http")),
            rich_help_panel=OUTPUT,
        ),
    ] = "stdio",
    host: Annotated[
        str,
        typer.Option(
            "--host",
            metavar="ADDRESS",
            help="Where it listens, with --transport http.",
            rich_help_panel=OUTPUT,
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(
            "--port",
            metavar="N",
            min=0,
            max=65_535,
            help="Port, with --transport http; 0 for any that is free.",
            rich_help_panel=OUTPUT,
        ),
    ] = 8000,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host",
            metavar="NAME",
            help="What clients may call it, beside --host; may be given several times. Needed "
            "where it listens at every address.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    asking: ServingOptions,
    calling: CallOptions,
) -> None:
    """Let agents read databases by the Model Context Protocol: checked, bounded and audited."""
    from dqa.api.mcp_server import serve_mcp

    serve_mcp(
        database,
        tables=options.tables_in(tables),
        policy=policy,
        audit=audit,
        limits=asking.limits,
        decisions=asking.decisions(calling),
        transport=transport,
        host=host,
        port=port,
        allowed_hosts=allow_host or (),
    )
