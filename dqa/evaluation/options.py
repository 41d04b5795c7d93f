"""Options of a run that do not change its results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Self, TypeAlias

from pydantic import AfterValidator, Field, model_validator

from dqa.core.database import Isolation
from dqa.core.decision import Usage
from dqa.core.errors import UsageError
from dqa.core.records import Record

if TYPE_CHECKING:
    from dqa.core.budgets import Prices
    from dqa.models.cassette import Cassette
    from dqa.models.policy import CallPolicy


def _absolute(path: Path | None) -> Path | None:
    """Return an absolute path, so that a run can resume from any folder."""
    return None if path is None else path.absolute()


EngineName: TypeAlias = Literal["local", "ray"]


class RunOptions(Record, use_attribute_docstrings=True):
    """How many decisions run in parallel, and where they run.

    `workers` is the total number of threads on this machine. On a Ray cluster, it is the number of
    threads of each worker process. Without an address, Ray uses ``RAY_ADDRESS``, or starts a
    cluster.
    """

    engine: EngineName = "local"
    """Where decisions are made: local for this machine, ray for a Ray cluster."""
    ray_address: str | None = None
    """Address of the Ray cluster's head (host:6379), or auto. By default, a cluster is started."""
    workers: Annotated[int, Field(ge=1)] = 4
    """Number of threads that decide."""
    processes: Annotated[int, Field(ge=1)] = 1
    """Number of processes on this machine. The threads are divided among them."""
    fail_fast: bool = False
    """Stop the run at the first crash."""
    audit: Annotated[Path | None, AfterValidator(_absolute)] = None
    """Append every statement and its result to this file."""
    isolation: Isolation = "process"
    """Where statements run: process for worker processes, none for the process of dqa."""

    @model_validator(mode="after")
    def _require_one_engine(self) -> Self:
        if self.ray_address is not None and self.engine != "ray":
            raise UsageError(
                "ray_address (--ray-address) is the address of a Ray cluster: give engine='ray' "
                "(--engine ray) with it."
            )
        if self.processes > 1 and self.engine != "local":
            raise UsageError(
                f"processes={self.processes} (--processes) starts processes on this machine, but "
                f"engine='{self.engine}' (--engine) runs elsewhere: leave out one of them."
            )
        return self


class CallOptions(Record, use_attribute_docstrings=True):
    """How models are called: recordings, retries, rates and budgets."""

    record: Annotated[Path | None, AfterValidator(_absolute)] = None
    """Record all model replies in this new file (a cassette)."""
    replay: Annotated[Path | None, AfterValidator(_absolute)] = None
    """Replay the model replies of this cassette instead of calling the model. No API key is
    needed."""
    retries: Annotated[int, Field(ge=0)] = 6
    """Maximum number of retries of a failed model call; at most one after a timeout."""
    timeout: Annotated[float, Field(ge=0.1)] = 120.0
    """Maximum duration of a model call in seconds."""
    max_concurrency: Annotated[int | None, Field(ge=1)] = None
    """Maximum number of simultaneous model calls."""
    requests_per_minute: Annotated[float | None, Field(ge=0.001)] = None
    """Maximum number of model calls per minute."""
    tokens_per_minute: Annotated[float | None, Field(ge=0.001)] = None
    """Maximum number of input and output tokens per minute."""
    budget_tokens: Annotated[int | None, Field(ge=1)] = None
    """Stop the run when it has used this number of tokens."""
    budget_cost: Annotated[float | None, Field(ge=0.0)] = None
    """Stop the run when its cost reaches this amount. Needs the prices of tokens."""
    price_input: Annotated[float | None, Field(ge=0.0)] = None
    """Price of a million input tokens."""
    price_output: Annotated[float | None, Field(ge=0.0)] = None
    """Price of a million output tokens."""
    price_cached: Annotated[float | None, Field(ge=0.0)] = None
    """Price of a million input tokens that the provider had cached."""
    price_reasoning: Annotated[float | None, Field(ge=0.0)] = None
    """Price of a million output tokens for reasoning."""

    @model_validator(mode="after")
    def _check_combinations(self) -> Self:
        """Raise an error for options that contradict each other."""
        if self.record is not None and self.replay is not None:
            raise UsageError(
                "record (--record) and replay (--replay) cannot be combined: give only one of them."
            )
        if self.replay is not None and self.limits_spending:
            raise UsageError(
                "A replay spends nothing: leave out budget_tokens (--budget-tokens) and "
                "budget_cost (--budget-cost)."
            )
        prices = (self.price_input, self.price_output)
        details = (self.price_cached, self.price_reasoning, self.budget_cost)
        if None in prices and {*prices, *details} != {None}:
            raise UsageError(
                "Give price_input (--price-input) and price_output (--price-output) together, each "
                "for a million tokens. budget_cost (--budget-cost) needs both."
            )
        return self

    @property
    def limits_spending(self) -> bool:
        """Whether there is a budget."""
        return self.budget_tokens is not None or self.budget_cost is not None

    @property
    def prices(self) -> Prices | None:
        """The prices of a million tokens, if the user gave them."""
        from dqa.core.budgets import Prices

        if self.price_input is None or self.price_output is None:
            return None
        more = (self.price_cached, self.price_reasoning)
        return Prices(self.price_input, self.price_output, *more)

    def cassette(self, models: Sequence[str], *, resume: bool) -> Cassette | None:
        """Open the cassette with the calls of `models`. Return None if the run has no cassette."""
        from dqa.models.cassette import Cassette

        if self.record is not None:
            return Cassette.record(self.record, models, resume=resume)
        return None if self.replay is None else Cassette.replay(self.replay, models)

    def policy(self, seed: int, spent: Callable[[], Usage]) -> CallPolicy:
        """Return the policy of model calls. `spent` returns the usage of all other processes."""
        from dqa.models.policy import Budget, CallPolicy, Limiter, Retry

        if self.replay is not None:
            return CallPolicy()
        limits = (self.max_concurrency, self.requests_per_minute, self.tokens_per_minute)
        return CallPolicy(
            Retry(self.retries, seed=seed),
            Limiter(*limits) if any(limit is not None for limit in limits) else None,
            Budget(self.budget_tokens, self.budget_cost, self.prices, spent)
            if self.limits_spending
            else None,
            timeout=self.timeout,
        )


DEFAULT_RUN = RunOptions()
DEFAULT_CALLS = CallOptions()
