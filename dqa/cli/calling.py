"""How models are called, as options that several commands share: ``eval`` and ``ask``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dqa.core.errors import UsageError

if TYPE_CHECKING:
    from dqa.core.decision import Usage
    from dqa.models.budget import Prices
    from dqa.models.cassette import Cassette
    from dqa.models.policy import CallPolicy

__all__ = ["Calling"]


@dataclass(frozen=True, slots=True)
class Calling:
    """Everything about calls of models that no result depends on."""

    record: Annotated[
        Path | None,
        typer.Option("--record", metavar="FILE", help="New cassette for every model reply."),
    ] = None
    replay: Annotated[
        Path | None,
        typer.Option(
            "--replay", metavar="FILE", help="Cassette that answers in the model's place; no key."
        ),
    ] = None
    retries: Annotated[
        int,
        typer.Option("--retries", metavar="N", min=0, help="Most further attempts at one reply."),
    ] = 6
    timeout: Annotated[
        float,
        typer.Option(
            "--timeout", metavar="SECONDS", min=0.1, help="How long a provider may be silent."
        ),
    ] = 120.0
    max_concurrency: Annotated[
        int | None,
        typer.Option("--max-concurrency", metavar="N", min=1, help="Most model calls at once."),
    ] = None
    requests_per_minute: Annotated[
        float | None,
        typer.Option("--requests-per-minute", metavar="N", min=0.001, help="Most model calls."),
    ] = None
    tokens_per_minute: Annotated[
        float | None,
        typer.Option(
            "--tokens-per-minute", metavar="N", min=0.001, help="Most tokens, in and out together."
        ),
    ] = None
    budget_tokens: Annotated[
        int | None,
        typer.Option(
            "--budget-tokens", metavar="N", min=1, help="Stop once so many tokens are used."
        ),
    ] = None
    budget_cost: Annotated[
        float | None,
        typer.Option("--budget-cost", metavar="X", min=0.0, help="Stop once so much is spent."),
    ] = None
    price_input: Annotated[
        float | None,
        typer.Option("--price-input", metavar="X", min=0.0, help="Price of a million tokens in."),
    ] = None
    price_output: Annotated[
        float | None,
        typer.Option("--price-output", metavar="X", min=0.0, help="Price of a million tokens out."),
    ] = None

    def __post_init__(self) -> None:
        """Refuse what contradicts itself before anything is asked."""
        if self.record is not None and self.replay is not None:
            raise UsageError("--record asks the model and --replay does not: give one of them.")
        if self.replay is not None and self.limits_spending:
            raise UsageError("--replay spends nothing: leave --budget-tokens and --budget-cost.")
        if (self.price_input is None) != (self.price_output is None):
            raise UsageError("Give both --price-input and --price-output, or neither.")
        if self.budget_cost is not None and self.prices is None:
            raise UsageError(
                "--budget-cost needs --price-input and --price-output, for a million tokens each."
            )

    @property
    def limits_spending(self) -> bool:
        """Whether there is a budget."""
        return self.budget_tokens is not None or self.budget_cost is not None

    @property
    def prices(self) -> Prices | None:
        """What a million tokens cost, where the user said so."""
        from dqa.models.budget import Prices

        if self.price_input is None or self.price_output is None:
            return None
        return Prices(self.price_input, self.price_output)

    def cassette(self, models: Sequence[str], *, resume: bool) -> Cassette | None:
        """Open the cassette for `models`, and say how its versions differ from ours."""
        from dqa.models.cassette import Cassette

        if self.record is not None:
            tape = Cassette.record(self.record, models, resume=resume)
        elif self.replay is not None:
            tape = Cassette.replay(self.replay, models)
        else:
            return None
        for warning in tape.warnings:
            typer.echo(f"warning: {warning}", err=True)
        return tape

    def policy(self, seed: int, spent: Usage) -> CallPolicy:
        """Return retries, limits and budget, for a run that has `spent` something already."""
        from dqa.models.budget import Budget
        from dqa.models.limits import Limiter
        from dqa.models.policy import CallPolicy, Retry

        if self.replay is not None:
            return CallPolicy()
        limits = (self.max_concurrency, self.requests_per_minute, self.tokens_per_minute)
        return CallPolicy(
            Retry(self.retries, seed=seed),
            Limiter(*limits) if any(limit is not None for limit in limits) else None,
            Budget(self.budget_tokens, self.budget_cost, self.prices, spent)
            if self.limits_spending
            else None,
        )
