"""``dqa dellma portfolio`` on a real run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from tests.cli.conftest import Command

Change: TypeAlias = Callable[[list[dict[str, Any]]], list[dict[str, Any]]]


@pytest.fixture
def run_folder(tmp_path: Path, dqa: Command) -> Path:
    """A run of DeLLMa, with shared states and with states of each action's own."""
    folder = tmp_path / "run"
    ran = dqa(
        *("eval", "--generate", "1", "--scenarios", "agriculture", "--databases", "sqlite"),
        *("--deciders", "dellma-pairs,dellma-naive", "--set", "dellma.samples=12"),
        *("--out", str(folder)),
    )
    assert ran.code == 0, ran.err
    return folder


def combined(dqa: Command, folder: Path, *options: str) -> dict[str, object]:
    """The portfolio of the run, as JSON."""
    ran = dqa(
        *("dellma", "portfolio", str(folder), "agriculture/1", "--decider", "dellma-pairs"),
        *(*options, "--json"),
    )
    assert ran.code == 0, ran.err
    found: dict[str, object] = json.loads(ran.out)
    return found


def test_the_mean_puts_all_on_one_action(dqa: Command, run_folder: Path) -> None:
    """Nothing is gained by mixing where only the mean counts."""
    found = combined(dqa, run_folder)
    amounts = [a["amount"] for a in found["amounts"]]  # type: ignore[attr-defined]
    assert max(amounts) == pytest.approx(1.0)
    assert found["gain"] == pytest.approx(0.0, abs=1e-9)


def test_caution_mixes_and_gains(dqa: Command, run_folder: Path) -> None:
    """The worst share of states is no worse than the best single action's."""
    found = combined(dqa, run_folder, "--attitude", "cvar", "--aversion", "0.3")
    assert isinstance(found["gain"], float)
    assert found["gain"] >= -1e-9


def changed(run_folder: Path, change: Change) -> None:
    """Change the events of a run."""
    path = run_folder / "traces.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    text = "".join(f"{json.dumps(row | {'trace': change(row['trace'])})}\n" for row in rows)
    path.write_text(text, encoding="utf-8")


def decided_with(attitude: object, aversion: object) -> Change:
    """Return what makes a run one of another attitude to risk."""

    def change(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
        for event in events:
            if event["kind"] == "utilities":
                event |= {"attitude": attitude, "aversion": aversion}
        return events

    return change


def risk_of(found: dict[str, object]) -> tuple[object, object, object]:
    """Return the attitude and the aversion of a portfolio, and what the decision had."""
    return found["attitude"], found["aversion"], found["decided_with"]


def test_the_attitude_is_the_decisions_own_unless_another_is_named(
    dqa: Command, run_folder: Path
) -> None:
    """Either option overrides it; an aversion is of no use to another attitude."""
    changed(run_folder, decided_with("cvar", 0.5))
    decided = {"attitude": "cvar", "aversion": 0.5}
    own = combined(dqa, run_folder)
    assert risk_of(own) == ("cvar", 0.5, decided)
    named = combined(dqa, run_folder, "--attitude", "cvar", "--aversion", "0.5")
    assert own == named
    half = combined(dqa, run_folder, "--aversion", "0.25")
    assert risk_of(half) == ("cvar", 0.25, decided)
    assert half["value"] < own["value"]  # type: ignore[operator]
    assert risk_of(combined(dqa, run_folder, "--attitude", "mean")) == ("mean", None, decided)
    other = combined(dqa, run_folder, "--attitude", "exponential")
    assert risk_of(other) == ("exponential", 0.2, decided)


def test_the_text_names_the_attitude(dqa: Command, run_folder: Path) -> None:
    """And says where it is not the decision's."""
    named = ("dellma", "portfolio", run_folder, "agriculture/1", "--decider", "dellma-pairs")
    assert dqa(*named).out.endswith("Attitude to risk: mean, as in the decision\n")
    cautious = dqa(*named, "--attitude", "cvar", "--aversion", "0.3").out.splitlines()[-1]
    told = "cvar with an aversion of 0.3; the decision was made with mean"
    assert cautious == f"Attitude to risk: {told}"


@pytest.mark.parametrize(("attitude", "aversion"), [("whim", 0.2), ("cvar", None), ([], "much")])
def test_an_attitude_of_another_version_is_refused(
    dqa: Command, run_folder: Path, attitude: object, aversion: object
) -> None:
    """With the event that is none of this version, and what to do."""
    changed(run_folder, decided_with(attitude, aversion))
    ran = dqa("dellma", "portfolio", run_folder, "agriculture/1", "--decider", "dellma-pairs")
    assert ran.code == 2
    told = " ".join(ran.err.split())
    assert "was not written by this version of DeLLMa's deciders: its event 'utilities'" in told
    assert "Decide it anew" in told


def test_bounds_costs_and_units_hold(dqa: Command, run_folder: Path) -> None:
    """Amounts are multiples of the unit, within their bounds and the budget."""
    free = combined(dqa, run_folder)
    best = free["single"]["action"]  # type: ignore[index]
    found = combined(
        *(dqa, run_folder, "--budget", "10", "--unit", "1", "--most", f"{best}=4"),
        *("--cost", f"{best}=2"),
    )
    amounts = {a["action"]: a["amount"] for a in found["amounts"]}  # type: ignore[attr-defined]
    assert amounts[best] <= 4.0
    assert all(amount == round(amount) for amount in amounts.values())
    assert found["cost"] == pytest.approx(sum(amounts.values()) + amounts[best])
    assert found["cost"] <= 10.0  # type: ignore[operator]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--cost", "nothing=2"), "nothing"),
        (("--most", "nonsense"), "'nonsense' is no number"),
        (("--budget", "-1"), "budget"),
        (("--budget", "nan"), "budget"),
        (("--budget", "inf"), "budget"),
        (("--unit", "nan"), "unit"),
        (("--aversion", "nan"), "aversion"),
        (("--cost", "{action}=0"), "The cost of {action} has to be finite and above 0, not 0.0"),
        (("--cost", "{action}=nan"), "finite and above 0, not nan"),
        (("--most", "{action}=nan"), "The largest amount of {action} has to be finite"),
        (("--least", "{action}=-1"), "finite and 0 or more, not -1.0"),
        (("--least", "{action}=2"), "least amounts cost 2, and the budget is 1"),
    ],
)
def test_limits_that_make_no_sense_are_refused(
    dqa: Command, run_folder: Path, options: tuple[str, ...], words: str
) -> None:
    """With what is wrong, in words of our own, and exit code 2."""
    action = combined(dqa, run_folder)["single"]["action"]  # type: ignore[index]
    ran = dqa(
        *("dellma", "portfolio", str(run_folder), "agriculture/1", "--decider", "dellma-pairs"),
        *(option.replace("{action}", action) for option in options),
    )
    assert ran.code == 2
    assert words.replace("{action}", action) in ran.err
    assert "HiGHS" not in ran.err


def test_states_of_each_actions_own_cannot_be_combined(dqa: Command, run_folder: Path) -> None:
    """How actions do together is not known then; the error says what to set."""
    ran = dqa(
        *("dellma", "portfolio", str(run_folder), "agriculture/1", "--decider", "dellma-naive")
    )
    assert ran.code == 2
    assert "one action's own" in " ".join(ran.err.split())
    assert "more dellma.samples" not in ran.err


def test_json_has_no_zero_with_a_sign(dqa: Command, run_folder: Path) -> None:
    """Nor an amount below zero by rounding."""
    ran = dqa(
        *("dellma", "portfolio", str(run_folder), "agriculture/1", "--decider", "dellma-pairs"),
        *("--attitude", "cvar", "--json"),
    )
    assert "-0.0" not in ran.out


def scaled_within(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the events of a run whose utilities were scaled within each action."""
    for event in events:
        if event["kind"] == "utilities":
            event["scale"] = "action"
    return events


def ended_early(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the events of a run that never had utilities."""
    return [event for event in events if event["kind"] != "utilities"]


def only_action(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the events of a question with one action."""
    context = next(event for event in events if event["kind"] == "context")
    context["actions"] = context["actions"][:1]
    return [context, {"kind": "only_action", "step": 0, "action": context["actions"][0]}]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (scaled_within, "Decide anew with dellma.scale=all"),
        (ended_early, "ended before it had utilities"),
        (only_action, "one action only: there is nothing to combine"),
    ],
)
def test_decisions_without_joint_utilities_are_refused(
    dqa: Command, run_folder: Path, change: Change, words: str
) -> None:
    """Each with its own reason: nothing in them can be added up."""
    changed(run_folder, change)
    ran = dqa(
        *("dellma", "portfolio", str(run_folder), "agriculture/1", "--decider", "dellma-pairs")
    )
    assert ran.code == 2
    assert words in " ".join(ran.err.split())
    assert "more dellma.samples" not in ran.err
