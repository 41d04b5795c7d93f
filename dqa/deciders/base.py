"""Factories of deciders, and their limits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from pydantic import BaseModel

from dqa.core.budgets import ENDLESS, DecisionBudget
from dqa.core.database import DEFAULT_LIMITS, Limits
from dqa.core.decider import Decider
from dqa.core.display import DEFAULT_DISPLAY, Display
from dqa.core.errors import UnknownNameError, UsageError
from dqa.core.recorder import Recorder
from dqa.deciders.settings import SettingInfo, read_settings, setting_infos
from dqa.models.policy import DEFAULT_POLICY, CallPolicy

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

_Own = TypeVar("_Own", bound=BaseModel)

ProtocolName: TypeAlias = Literal["react", "tools"]
"""How an agent and its model talk: labelled text, or the provider's own tool calls."""


Use: TypeAlias = Literal["evaluate", "ask", "reference"]
"""Uses for which a decider may be the default."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The limits of every run, for all deciders.

    Attributes
    ----------
    max_steps
        Most model replies; running into it ends the run as `Ending.STEP_LIMIT`.
    max_parse_failures
        Most replies in a row that cannot be read, or whose answer names no candidate, before the
        run ends as `UNPARSABLE`.
    limits
        What each statement may cost.
    display
        What models are shown of values: digits of numbers, samples of columns.
    calls
        How models are called: retries, rates and budget; hand it to `dqa.models.calling`.
    protocol
        How agents and their models talk.
    rules
        Name of the rule set that an agent's simulator runs by; None for the scenario's first.
    options
        Settings of a decider's own by name, as its factory's `options` lists them.
    own
        The same settings as an instance of the factory's `settings`. The factory makes it from
        `options` and the settings of the question's scenario; a Python caller may pass it.
    budget
        The budget of one decision; the best so far is decided when it is spent.
    epoch
        The number of the repeat in an evaluation, from 1. Random draws differ between epochs and
        are the same within one.
    """

    max_steps: int = 20
    max_parse_failures: int = 3
    limits: Limits = DEFAULT_LIMITS
    display: Display = DEFAULT_DISPLAY
    calls: CallPolicy = DEFAULT_POLICY
    protocol: ProtocolName = "react"
    rules: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    own: BaseModel | None = None
    budget: DecisionBudget = ENDLESS
    epoch: int = 1

    def __post_init__(self) -> None:
        """Refuse limits that allow no reply."""
        if self.max_steps < 1 or self.max_parse_failures < 1:
            raise UsageError("A run needs at least one reply, and one try at each.")

    def recorder(self) -> Recorder:
        """Return a recorder of one decision, with its budget."""
        return Recorder(self.budget, self.calls.clock.monotonic)

    def own_as(self, kind: type[_Own]) -> _Own:
        """Return the decider's own settings, as the class that its factory names."""
        if not isinstance(self.own, kind):
            raise TypeError(f"A factory makes settings of {kind.__name__}, not {self.own!r}.")
        return self.own


@dataclass(frozen=True, slots=True)
class DeciderFactory:
    """Makes a decider for a model; an entry point of `dqa.deciders` names it.

    Attributes
    ----------
    name
        The name of the decider in commands and results.
    description
        A description in one line.
    make
        Makes the decider for a chat model (it may be None if `needs_model` is false) and the
        settings.
    needs_model
        Whether a chat model has to be named.
    protocols
        The values of `Settings.protocol` that it follows.
    settings
        The class of its own settings, whose fields have defaults; None where it has none.
        `Settings.own_as` gives `make` an instance.
    family
        The common name of several deciders: ``FAMILY.setting`` is for all of them, and
        ``NAME.setting``, which has priority, for this one.
    fixed
        Fields of `settings` that cannot be set, because the decider's name defines them.
    apart
        Fields of `settings` that `family` does not set, because they have another meaning in
        another decider of the family.
    scenarios
        Names of the scenarios that it decides; () for all. An evaluation leaves questions of
        others to the other deciders.
    default_for
        Where it is meant if no decider is named: by an evaluation, by a question, or as the
        reference whose retrievals tell single-retrieval questions from others.
    """

    name: str
    description: str
    make: Callable[[Any, Settings], Decider]
    needs_model: bool = True
    protocols: tuple[ProtocolName, ...] = ("react", "tools")
    settings: type[BaseModel] | None = None
    family: str = ""
    fixed: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()
    default_for: tuple[Use, ...] = ()

    def __call__(self, model: BaseChatModel | None, settings: Settings) -> Decider:
        """Make the decider.

        Raises
        ------
        UsageError
            It needs a model and none is named, or it does not accept one of its settings.
        """
        if self.needs_model and model is None:
            raise UsageError(
                f"The decider '{self.name}' needs a chat model; name one with --model."
            )
        fields = self._fields()
        for option in settings.options:
            if option not in fields:
                raise UnknownNameError(f"setting of '{self.name}'", option, fields)
        if self.settings is None:
            return self.make(model, settings)
        from dqa.deciders.by_scenario import ByScenario  # finds scenarios, which find deciders

        def make(of_scenario: Mapping[str, str]) -> Decider:
            return self.make(model, replace(settings, own=self._own(of_scenario, settings)))

        return ByScenario(make)

    @property
    def options(self) -> tuple[str, ...]:
        """The names of its own settings."""
        return tuple(self._fields())

    @property
    def setting_infos(self) -> tuple[SettingInfo, ...]:
        """Its own settings, for lists: each once, under the family's name if possible."""
        if self.settings is None:
            return ()
        shown: dict[str, str] = {}
        for option, name in self._fields().items():
            if name not in shown.values():
                shown[option] = name
        return setting_infos(self.settings, shown)

    def _fields(self) -> Mapping[str, str]:
        """Return the field of each option; the family's first, as the decider's own go first."""
        if self.settings is None:
            return {}
        fields = [name for name in self.settings.model_fields if name not in self.fixed]
        shared = [name for name in fields if self.family and name not in self.apart]
        return {
            **{f"{self.family}.{name}": name for name in shared},
            **{f"{self.name}.{name}": name for name in fields},
        }

    def _named(self, options: Mapping[str, str]) -> Mapping[str, str]:
        """Return the option that sets each field."""
        return {name: option for option, name in self._fields().items() if option in options}

    def _own(self, of_scenario: Mapping[str, str], settings: Settings) -> BaseModel:
        """Return its own settings: those of a scenario, overridden by those of the user."""
        own, kind = settings.own, self.settings
        if kind is None or not (own is None or isinstance(own, kind)):
            raise UsageError(f"The decider '{self.name}' has other settings than {own!r}.")
        usual, chosen = self._named(of_scenario), self._named(settings.options)
        given = {name: of_scenario[option] for name, option in usual.items()}
        given |= {} if own is None else own.model_dump(include=own.model_fields_set)
        given |= {name: settings.options[option] for name, option in chosen.items()}
        return read_settings(kind, given, {**usual, **chosen}, self.name)


def share_options(
    factories: Iterable[DeciderFactory], options: Mapping[str, str]
) -> dict[str, dict[str, str]]:
    """Return for each decider, by name, those of the options that it accepts.

    Raises
    ------
    UnknownNameError
        None of them accepts an option: it was meant for another decider, or misspelt.
    """
    accepted = {made.name: made.options for made in factories}
    known = {option for names in accepted.values() for option in names}
    for option in options:
        if option not in known:
            raise UnknownNameError("setting of these deciders", option, known)
    return {
        decider: {option: value for option, value in options.items() if option in names}
        for decider, names in accepted.items()
    }
