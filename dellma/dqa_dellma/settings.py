"""The settings of DeLLMa, with the paper's as defaults (section 4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from dqa.core.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["NAMES", "OPTIONS", "Attitude", "DellmaSettings", "Elicitation", "changed", "options_of"]

_Settings = TypeVar("_Settings", bound="DataclassInstance")

Elicitation: TypeAlias = Literal["pairs", "top1"]
"""How a ranking becomes preferences: every pair of it (Rank2Pairs), or its first (One-vs-All)."""
Attitude: TypeAlias = Literal["mean", "cvar", "exponential"]
"""What of an action's utilities decides."""

_PREFIX = "dellma."
_ONE_OF: Mapping[str, tuple[str, ...]] = {
    "elicitation": ("pairs", "top1"),
    "attitude": ("mean", "cvar", "exponential"),
    "scale": ("all", "action"),
    "rule": ("paper", "posterior"),
}


@dataclass(frozen=True, slots=True)
class DellmaSettings:
    """What a DeLLMa run does.

    Attributes
    ----------
    factors
        k, how many latent factors are asked for; 0 for two general ones and two an action, at most
        16.
    values
        l, how many values each factor has.
    samples
        State samples of each action; of all actions together where states are not shared.
    batch
        Items of a minibatch, where states are shared.
    overlap
        Proportion of a minibatch that the next one shares.
    elicitation
        How rankings become preferences.
    shared
        Whether all actions are paired with the same states (variance reduction) and ranked in
        minibatches; False for DeLLMa-Naive: states of their own, and all pairs in one batch.
    alpha
        Regularisation of the Bradley-Terry model.
    scale
        Whether scores become utilities by a softmax over all items, or within each action.
    temperature
        Of that softmax.
    attitude
        What of an action's utilities decides: their mean, the mean of the worst share (CVaR), or
        the certainty equivalent of an exponential utility.
    aversion
        The worst share for ``cvar``, 1 at most; the risk aversion for ``exponential``.
    rule
        What decides: the value that the scores give, as in the paper, or its posterior mean, which
        loses less where there are few samples.
    confidence
        Stop asking for rankings once the chosen action is the best with this probability; 1 asks
        for all of them.
    context
        Most characters of the task that every prompt begins with: goal, actions, rules and rows.
        Rules and rows beyond that are summarised.
    seed
        Of samples, shuffles and posterior draws.
    """

    factors: int = 0
    values: int = 3
    samples: int = 64
    batch: int = 32
    overlap: float = 0.25
    elicitation: Elicitation = "pairs"
    shared: bool = True
    alpha: float = 2e-3
    scale: Literal["all", "action"] = "all"
    temperature: float = 1.0
    attitude: Attitude = "mean"
    aversion: float = 0.2
    rule: Literal["paper", "posterior"] = "paper"
    confidence: float = 1.0
    context: int = 40_000
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what makes no sense before anything is asked."""
        least = 1 if self.shared else 2
        needed = [
            ("factors", self.factors >= 0, "0 or more"),
            ("values", self.values >= 2, "2 or more"),
            ("samples", self.samples >= least, f"{least} or more"),
            ("batch", self.batch >= 2, "2 or more"),
            ("overlap", 0.0 <= self.overlap < 1.0, "from 0 to below 1"),
            # Beyond these bounds nothing is left of the scores, or of their differences.
            ("alpha", 1e-10 <= self.alpha <= 1e3, "from 1e-10 to 1000"),
            ("temperature", 1e-3 <= self.temperature <= 1e3, "from 0.001 to 1000"),
            ("aversion", 1e-6 <= self.aversion <= 1e3, "from 1e-6 to 1000"),
            ("confidence", 0.0 < self.confidence <= 1.0, "above 0, at most 1"),
            ("context", self.context >= 1_000, "1000 or more"),
            ("seed", self.seed >= 0, "0 or more"),
        ]
        for name, fits, bounds in needed:
            if not fits:
                raise UsageError(f"{_PREFIX}{name} has to be {bounds}, not {getattr(self, name)}.")
        if self.attitude == "cvar" and self.aversion > 1.0:
            raise UsageError(f"{_PREFIX}aversion is a share for cvar: at most 1.")
        if self.attitude != "mean" and self.scale != "all":
            raise UsageError(
                f"{_PREFIX}attitude={self.attitude} needs {_PREFIX}scale=all: utilities scaled "
                "within each action have no states to be careful about."
            )
        if self.rule == "posterior" and self.scale != "all":
            raise UsageError(
                f"{_PREFIX}rule=posterior needs {_PREFIX}scale=all: the posterior has no estimate "
                "of utilities scaled within each action."
            )
        if self.confidence < 1.0 and not self.shared:
            raise UsageError(
                f"{_PREFIX}confidence below 1 needs shared states, as dellma-pairs has them: "
                "actions that drop out are compared in the states that they share."
            )


NAMES = tuple(field.name for field in fields(DellmaSettings) if field.name != "shared")
"""The settings that can be given; whether states are shared is what the deciders' names mean."""
OPTIONS = tuple(f"{_PREFIX}{name}" for name in NAMES)
"""What they are called where they are for all of DeLLMa's deciders."""


def options_of(decider: str, names: Iterable[str], own: Iterable[str] = ()) -> tuple[str, ...]:
    """Return what the settings of a decider are called on the command line.

    Parameters
    ----------
    decider
        Its name: ``NAME.setting`` is for this one only, and overrides ``dellma.setting``.
    names
        Those of `DellmaSettings` that it heeds.
    own
        Those that no other decider has.
    """
    listed = tuple(names)
    return tuple(f"{_PREFIX}{name}" for name in listed) + tuple(
        f"{decider}.{name}" for name in (*listed, *own)
    )


def changed(usual: _Settings, options: Mapping[str, str], names: Iterable[str]) -> _Settings:
    """Return settings with those changed that options give.

    Parameters
    ----------
    usual
        A dataclass of settings.
    options
        Values by name, as the command line has them.
    names
        Which of them to read: what stands behind the last dot is the field. Those that `usual` has
        not are left alone, and of two for the same field the later one counts.

    Raises
    ------
    UsageError
        A value is none of its kind, or makes no sense.
    """
    known = {field.name: getattr(usual, field.name) for field in fields(usual)}
    changes: dict[str, Any] = {}
    for option in names:
        name = option.rpartition(".")[2]
        if option in options and name in known:
            changes[name] = _read(option, options[option], known[name])
    return replace(usual, **changes)


def _read(option: str, value: str, usual: Any) -> Any:  # noqa: ANN401  (the field's own type)
    one_of = _ONE_OF.get(option.rpartition(".")[2])
    if one_of is not None:
        if value not in one_of:
            raise UnknownNameError(f"value of {option}", value, one_of)
        return value
    try:
        return type(usual)(value)
    except ValueError as error:
        kind = "a whole number" if isinstance(usual, int) else "a number"
        raise UsageError(f"{option} is {kind}, not '{value}'.") from error
