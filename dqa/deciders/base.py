"""What makes deciders, and what bounds them."""

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
"""What a decider may be the usual one for."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What bounds every run, whatever the decider.

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
        The same as what its factory's `settings` is made of: the factory makes it of `options` and
        of what the question's scenario has, and a Python caller may give it instead.
    budget
        What one decision may cost, before it is made by what has been seen.
    epoch
        Which repeat of an evaluation the decider is for, from 1: what it draws at random it draws
        anew in each, and the same in the same one.
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
        """Refuse limits under which nothing could be said."""
        if self.max_steps < 1 or self.max_parse_failures < 1:
            raise UsageError("A run needs at least one reply, and one try at each.")

    def recorder(self) -> Recorder:
        """Return what keeps what happens in one decision, within its budget."""
        return Recorder(self.budget, self.calls.clock.monotonic)

    def own_as(self, kind: type[_Own]) -> _Own:
        """Return the decider's own settings, as the class that its factory names."""
        if not isinstance(self.own, kind):
            raise TypeError(f"A factory makes settings of {kind.__name__}, not {self.own!r}.")
        return self.own


@dataclass(frozen=True, slots=True)
class DeciderFactory:
    """What the entry point `dqa.deciders` names: makes a decider for a model.

    Attributes
    ----------
    name
        What commands and results call the decider.
    description
        What it does, in one line.
    make
        Makes the decider for a chat model (None where `needs_model` is false and nobody named
        one) and the settings.
    needs_model
        Whether a chat model has to be named.
    protocols
        The values of `Settings.protocol` that it follows.
    settings
        The class of its own settings, whose fields have defaults; None where it has none.
        `Settings.own_as` gives `make` an instance.
    family
        What several deciders are called together: ``FAMILY.setting`` is for all of them, and
        ``NAME.setting``, which goes first, for this one.
    fixed
        Fields of `settings` that nobody can give: they are what the decider's name means.
    apart
        Fields of `settings` that `family` does not reach, as another of its deciders means
        something else by that name.
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
        from dqa.deciders.by_scenario import by_scenario  # finds scenarios, which find deciders

        def make(of_scenario: Mapping[str, str]) -> Decider:
            return self.make(model, replace(settings, own=self._own(of_scenario, settings)))

        return by_scenario(make)

    @property
    def options(self) -> tuple[str, ...]:
        """What its own settings are called where they are given by name."""
        return tuple(self._fields())

    @property
    def setting_infos(self) -> tuple[SettingInfo, ...]:
        """Its own settings, for lists: each once, under the family's name where that reaches it."""
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
        """Return the option that gives each field, of those that are given."""
        return {name: option for option, name in self._fields().items() if option in options}

    def _own(self, of_scenario: Mapping[str, str], settings: Settings) -> BaseModel:
        """Return its own settings: what a scenario has, overridden by what was given."""
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
