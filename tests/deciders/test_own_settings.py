"""A decider's own settings are typed, listed, checked and overridden."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

import pytest
from pydantic import BaseModel, Field, model_validator

from dqa import plugins
from dqa.core.database import Database
from dqa.core.decider import Decider
from dqa.core.decision import Decision, Ending
from dqa.core.errors import UnknownNameError, UsageError
from dqa.core.question import Question
from dqa.deciders.base import DeciderFactory, Settings, share_options

PAPER: Mapping[str, Mapping[str, object]] = {
    "bidder": {"returns": "collected", "breadth": 2, "replies": 1},
    "dellma-top1": {"draws": "independent", "ties": False, "states": "whole"},
    "ldm2": {"evaluate": True},
    "reflexion-trials": {"trials": 5},
}
"""What the preset ``paper`` sets, of one decider of each class of settings."""


@pytest.mark.parametrize("name", PAPER)
def test_a_preset_follows_the_paper(name: str) -> None:
    """Settings of the user override it."""
    kind = plugins.decider(name).settings
    assert kind is not None
    paper = kind.model_validate({"preset": "paper"}).model_dump()
    assert {setting: paper[setting] for setting in PAPER[name]} == PAPER[name]
    for setting, value in kind().model_dump(exclude={"preset"}).items():
        own = kind.model_validate({"preset": "paper", setting: value}).model_dump()
        assert own == {**paper, setting: value}


class Patience(BaseModel):
    """The settings of a decider of another package."""

    tries: int = Field(default=3, ge=1, le=9, description="how often it tries")
    mood: Literal["calm", "brisk"] = "calm"
    quietly: bool = False
    share: float = Field(default=0.5, gt=0.0, lt=1.0)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.quietly and self.mood == "brisk":
            raise ValueError("whoever is brisk is not quiet.")
        return self


class Other(BaseModel):
    """Another decider's."""


class Patient(Decider):
    """Answers with its settings."""

    def __init__(self, own: Patience) -> None:
        self.name = "patient"
        self._own = own

    def decide(self, question: Question, database: Database) -> Decision:
        """Say them."""
        del question, database
        return Decision(Ending.ANSWERED, self._own.model_dump_json())


def patient(name: str = "patient", **more: Any) -> DeciderFactory:
    """Return the stranger's factory."""

    def make(model: object, settings: Settings) -> Patient:
        del model
        return Patient(settings.own_as(Patience))

    return DeciderFactory(name, "waits", make, needs_model=False, settings=Patience, **more)


def told(factory: DeciderFactory, own: Patience | None = None, **options: str) -> Patience:
    """Return the settings that a decider has in the end."""
    given = {f"patient.{name}": value for name, value in options.items()}
    decider = factory(None, Settings(options=given, own=own))
    question = Question("custom", "1", "Which?", "")
    return Patience.model_validate_json(decider.decide(question, None).answer)  # type: ignore[arg-type]


def test_texts_become_what_the_model_says() -> None:
    """Whole numbers, numbers, truth values and choices; the others have their defaults."""
    found = told(patient(), tries="5", quietly="true", share="0.25")
    assert found == Patience(tries=5, quietly=True, share=0.25)
    assert told(patient()) == Patience()


@pytest.mark.parametrize(
    ("option", "value", "problem"),
    [
        ("tries", "0", "setting of 'patient': tries: must be at least 1, not '0'."),
        ("tries", "two", "tries: must be a valid integer"),
        ("quietly", "maybe", "quietly: must be a valid boolean"),
        ("share", "1", "share: must be less than 1, not '1'."),
        ("mood", "calmly", "mood: must be 'calm' or 'brisk', not 'calmly'."),
        ("trys", "1", "There is no setting of 'patient' 'patient.trys'."),
    ],
)
def test_what_a_setting_does_not_accept_is_one_line(option: str, value: str, problem: str) -> None:
    """With its name, the value, and what it may be."""
    with pytest.raises(UsageError) as refused:
        told(patient(), None, **{option: value})
    assert problem in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_family_and_a_decider_of_it_are_told_apart() -> None:
    """What is for one decider goes before what is for all; some fields are neither."""
    one = patient(family="waiting", fixed=("mood",), apart=("share",))
    other = patient("hasty", family="waiting")
    assert tuple(one.options) == (
        *("waiting.tries", "waiting.quietly"),
        *("patient.tries", "patient.quietly", "patient.share"),
    )
    given = {"patient.tries": "2", "waiting.tries": "7", "waiting.mood": "brisk"}
    assert share_options((one, other), given) == {
        "patient": {"patient.tries": "2", "waiting.tries": "7"},
        "hasty": {"waiting.tries": "7", "waiting.mood": "brisk"},
    }
    assert told(one, tries="2") == Patience(tries=2)
    with pytest.raises(UnknownNameError, match=r"hasty\.size"):
        share_options((one, other), {"hasty.size": "1"})


def test_a_python_caller_gives_them_typed() -> None:
    """Options go before them, and the class must be the decider's."""
    assert told(patient(), Patience(tries=4), share="0.1") == Patience(tries=4, share=0.1)
    with pytest.raises(UsageError, match="does not accept the settings"):
        patient()(None, Settings(own=Other()))
    with pytest.raises(UsageError, match="at least 1"):
        Settings(max_steps=0)
    with pytest.raises(UsageError, match="at least 1"):
        Settings(max_parse_failures=0)
