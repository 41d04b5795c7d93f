"""``dqa dellma portfolio`` on a real run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dqa as api
from tests.cli.conftest import Command


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of DeLLMa, with shared states and with states of each action's own."""
    folder = tmp_path_factory.mktemp("portfolio") / "run"
    api.evaluate(
        api.generate(["agriculture"], 1),
        ["dellma-pairs", "dellma-naive"],
        databases=["sqlite"],
        settings={"dellma.samples": "12"},
        out=folder,
    )
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
        (("--most", "nonsense"), "'nonsense' is not a number"),
        (("--budget", "-1"), "budget"),
        (("--cost", "{action}=0"), "The cost of {action} must be finite and above 0"),
        (("--most", "{action}=nan"), "The largest amount of {action} must be finite"),
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
    assert "Decide again with dellma-pairs" in " ".join(ran.err.split())
