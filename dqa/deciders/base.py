"""Factories of deciders, with their limits and settings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, ValidationError

from dqa import plugins
from dqa.core.budgets import ENDLESS, DecisionBudget
from dqa.core.database import DEFAULT_LIMITS, Database, Limits
from dqa.core.decider import Decider
from dqa.core.decision import Decision
from dqa.core.display import DEFAULT_DISPLAY, Display
from dqa.core.errors import DqaError, PluginError, UnknownNameError, UsageError
from dqa.core.question import Question
from dqa.core.recorder import Recorder
from dqa.core.records import problem_of
from dqa.models.policy import DEFAULT_POLICY, CallPolicy

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


_Own = TypeVar("_Own", bound=BaseModel)

ProtocolName: TypeAlias = Literal["react", "tools"]
"""The reply format of an agent's model: labelled text, or native tool calls."""


Use: TypeAlias = Literal["evaluate", "ask", "reference"]
"""The uses for which a decider can be the default."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The limits and settings of a decider.

    Attributes
    ----------
    max_steps
        The maximum number of model replies. After this number, the decision ends as
        `Ending.STEP_LIMIT`.
    max_parse_failures
        The number of consecutive unusable replies that ends a decision as `Ending.UNPARSABLE`.
    limits
        The limits of each statement.
    display
        How values are shown to models: the digits of numbers, and samples of the values of columns.
    calls
        How models are called: retries, rates and budget.
    protocol
        The reply format of agents.
    rules
        The name of the rule set for simulations; None for the scenario's first rule set.
    options
        The decider's own settings, as texts by name. The factory's `options` lists the names.
    own
        The decider's own settings as an instance of the factory's `settings`. The factory creates
        the instance from `options` and the settings of the question's scenario. A Python caller may
        pass an instance instead.
    budget
        The budget of one decision. When the budget is spent, the best choice so far becomes the
        decision.
    epoch
        The number of the repetition in an evaluation, from 1. Random draws depend on this number.
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
        """Raise `UsageError` if the limits do not allow a single reply."""
        if self.max_steps < 1 or self.max_parse_failures < 1:
            raise UsageError("max_steps and max_parse_failures must be at least 1.")

    def recorder(self) -> Recorder:
        """Return a recorder for one decision, with its budget."""
        return Recorder(self.budget, self.calls.clock.monotonic)

    def own_as(self, kind: type[_Own]) -> _Own:
        """Return `own`. Raise `TypeError` if it is not an instance of `kind`."""
        if not isinstance(self.own, kind):
            raise TypeError(
                f"The settings must be an instance of {kind.__name__}, not {self.own!r}."
            )
        return self.own


@dataclass(frozen=True, slots=True)
class DeciderFactory:
    """Creates a decider for a model. An entry point of ``dqa.deciders`` names the factory.

    Attributes
    ----------
    name
        The name of the decider in commands and results.
    description
        A description in one line.
    make
        Creates the decider from a chat model (None if `needs_model` is false) and settings.
    needs_model
        Whether the decider needs a chat model.
    protocols
        The supported values of `Settings.protocol`.
    settings
        The class of the decider's own settings. All its fields have defaults. None if the decider
        has no own settings. `Settings.own_as` returns an instance.
    family
        The common name of several deciders. ``FAMILY.setting`` applies to all deciders of the
        family. ``NAME.setting`` applies only to this decider and has priority.
    fixed
        The fields of `settings` that users cannot set, because the decider's name determines their
        values.
    apart
        The fields of `settings` that ``FAMILY.setting`` does not change, because their meaning
        differs between deciders of the family.
    scenarios
        The names of the scenarios whose questions the decider can decide; () for all.
    default_for
        The uses for which the decider is the default: for evaluations, for single questions, or as
        the reference decider. The reference decider shows which questions can be decided after a
        single retrieval.
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
        """Create the decider.

        Raises
        ------
        UsageError
            The model is missing, or a setting is invalid.
        """
        if self.needs_model and model is None:
            raise UsageError(f"The decider '{self.name}' needs a chat model: choose one (--model).")
        for option in settings.options:
            if option not in self.options:
                raise UnknownNameError(f"setting of '{self.name}'", option, self.options)
        if self.settings is None:
            return self._make(model, settings)

        def make(of_scenario: Mapping[str, str]) -> Decider:
            return self._make(model, replace(settings, own=self._own(of_scenario, settings)))

        return ByScenario(make)

    def _make(self, model: BaseChatModel | None, settings: Settings) -> Decider:
        """Create the decider. Raise `PluginError` if the code of a plug-in fails."""
        try:
            made = self.make(model, settings)
        except DqaError:
            raise
        except Exception as error:
            problem = " ".join(f"{type(error).__name__}: {error}".split())
            raise PluginError(f"The decider '{self.name}' cannot be created: {problem}.") from error
        if not isinstance(made, Decider):
            raise PluginError(f"The factory of '{self.name}' returned {made!r}, not a Decider.")
        return made

    @property
    def setting_infos(self) -> tuple[SettingInfo, ...]:
        """The decider's own settings, for lists.

        The name of a setting begins with the family, if the whole family has this setting.
        """
        if self.settings is None:
            return ()
        options = {name: option for option, name in reversed(self.options.items())}
        fields = [name for name in self.settings.model_fields if name in options]
        properties = self.settings.model_json_schema()["properties"]
        described = {options[name]: properties[name] for name in fields}
        return tuple(
            SettingInfo(name, field.get("default"), _accepts(field), field.get("description", ""))
            for name, field in described.items()
        )

    @property
    def options(self) -> dict[str, str]:
        """The field of each of the decider's own settings, by the name of the setting.

        The family's options come before the decider's own options.
        """
        if self.settings is None:
            return {}
        fields = [name for name in self.settings.model_fields if name not in self.fixed]
        shared = [name for name in fields if self.family and name not in self.apart]
        return {f"{self.family}.{name}": name for name in shared} | {
            f"{self.name}.{name}": name for name in fields
        }

    def _own(self, of_scenario: Mapping[str, str], settings: Settings) -> BaseModel:
        """Return the settings: the user's values, else the scenario's, else the defaults."""
        own, kind = settings.own, self.settings
        if kind is None or not (own is None or isinstance(own, kind)):
            raise UsageError(f"The decider '{self.name}' does not accept the settings {own!r}.")
        fields = self.options

        def given(options: Mapping[str, str]) -> dict[str, Any]:
            return {fields[option]: options[option] for option in fields if option in options}

        typed = {} if own is None else own.model_dump(include=own.model_fields_set)
        values = given(of_scenario) | typed | given(settings.options)
        return read_settings(kind, values, self.name)


def share_options(
    factories: Iterable[DeciderFactory], options: Mapping[str, str]
) -> dict[str, dict[str, str]]:
    """Return the options that each decider accepts, by the name of the decider.

    Raises
    ------
    UnknownNameError
        No decider accepts an option.
    """
    accepted = {factory.name: factory.options for factory in factories}
    known = {option for names in accepted.values() for option in names}
    for option in options:
        if option not in known:
            raise UnknownNameError("setting of these deciders", option, known)
    return {
        decider: {option: value for option, value in options.items() if option in names}
        for decider, names in accepted.items()
    }


_BOUNDS: Mapping[str, str] = {
    "minimum": "minimum",
    "exclusiveMinimum": "above",
    "maximum": "maximum",
    "exclusiveMaximum": "below",
}
"""The words that describe the bounds of JSON Schema to users."""


@dataclass(frozen=True, slots=True)
class SettingInfo:
    """A setting of a decider, described for lists.

    Attributes
    ----------
    name
        The name of the setting.
    default
        The default value.
    accepts
        A description of the possible values.
    description
        The purpose of the setting.
    """

    name: str
    default: Any
    accepts: str
    description: str


def read_settings(model: type[_Own], values: Mapping[str, Any], owner: str) -> _Own:
    """Create settings from values by field. Missing fields get their defaults.

    Parameters
    ----------
    model
        The class of the settings.
    values
        The values by field. A value may be a text or have the type of its field.
    owner
        The name of the decider or world.

    Raises
    ------
    UsageError
        A value is invalid, or the settings contradict each other.
    """
    try:
        return model.model_validate(dict(values))
    except ValidationError as error:
        problem = problem_of(error, model)
        raise UsageError(f"Invalid setting of '{owner}': {problem}.") from None


def _accepts(schema: Mapping[str, Any]) -> str:
    """Describe the values that a JSON Schema accepts."""
    if "anyOf" in schema:
        return ", or ".join(map(_accepts, schema["anyOf"]))
    if "const" in schema or "enum" in schema:
        return ", ".join(map(str, schema.get("enum") or [schema["const"]]))
    bounds = [f"{word} {schema[bound]:g}" for bound, word in _BOUNDS.items() if bound in schema]
    return ", ".join([schema.get("type", "value"), *bounds])


class ByScenario(Decider):
    """Decides each question with the settings of its scenario.

    Parameters
    ----------
    make
        Creates the decider from the settings of a scenario; raises `UsageError` for invalid
        settings.

    Attributes
    ----------
    usual
        The decider for questions without a scenario.
    """

    def __init__(self, make: Callable[[Mapping[str, str]], Decider]) -> None:
        self._make = make
        self.usual = make({})  # refuses invalid settings before the first question
        self.name, self.answer_forms = self.usual.name, self.usual.answer_forms
        self._deciders = {frozenset[tuple[str, str]](): self.usual}

    def decide(self, question: Question, database: Database) -> Decision:
        """Decide one question; see `dqa.core.decider.Decider`."""
        return self.decider_of(question).decide(question, database)

    def check(self, question: Question) -> None:
        """Raise `UsageError` for a question that could never be decided."""
        self.decider_of(question).check(question)

    def decider_of(self, question: Question) -> Decider:
        """Return the decider with the settings of the question's scenario."""
        scenario = plugins.scenario_of(question)
        if scenario is None:
            return self.usual
        settings = frozenset(scenario.settings.items())
        if settings not in self._deciders:
            self._deciders.setdefault(settings, self._make(scenario.settings))
        return self._deciders[settings]
