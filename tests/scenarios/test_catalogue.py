"""Known scenarios: of this project, of other packages, and of registered folders."""

from __future__ import annotations

import shutil
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace

import pytest

from dqa import plugins
from dqa.core.errors import PluginError, UnknownNameError, UsageError
from dqa.scenarios import catalogue, register, registered, scenarios
from dqa.scenarios.document import GeneratorPart
from tests.scenarios.conftest import FIFTH

SUPPLIERS = FIFTH / "suppliers"


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Create a module whose attributes entry points may name."""
    module = SimpleNamespace(FOLDER=SUPPLIERS, TEXT=str(SUPPLIERS), NOTHING=3)
    monkeypatch.setitem(__import__("sys").modules, "a_package", module)
    return module


def added(monkeypatch: pytest.MonkeyPatch, **points: str) -> None:
    """Declare entry points."""
    found = {name: EntryPoint(name, value, catalogue.GROUP) for name, value in points.items()}
    monkeypatch.setattr(catalogue, "_added", lambda: found)
    uncached = getattr(catalogue._installed, "__wrapped__", catalogue._installed)
    monkeypatch.setattr(catalogue, "_installed", uncached)


def test_a_package_adds_a_folder(package: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a path or as text."""
    for value in ("a_package:FOLDER", "a_package:TEXT"):
        added(monkeypatch, suppliers=value)
        assert plugins.scenario("suppliers").unit == "bill"
        assert scenarios()[-1].name == "suppliers"


def test_a_broken_plug_in_is_one_line_and_hides_no_other(
    package: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says which entry point is wrong."""
    for name, value, words in (
        ("suppliers", "no_such_package:X", "cannot be loaded: ModuleNotFoundError"),
        ("suppliers", "a_package:LOST", "cannot be loaded: AttributeError"),
        ("suppliers", "a_package:NOTHING", "is not a folder with a scenario.toml"),
        ("sellers", "a_package:FOLDER", "has the name 'suppliers'"),
        ("locating", "a_package:FOLDER", "Two scenarios have the name"),
    ):
        added(monkeypatch, **{name: value})
        with pytest.raises(PluginError, match=words) as caught:
            plugins.scenario(name)
        assert "\n" not in str(caught.value)
        assert name in plugins.names("scenario")
        assert "building" in {found.name for found in scenarios()}


def test_a_folder_can_be_registered_again_and_is_read_again(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(SUPPLIERS, tmp_path / "mine"))
    assert register(folder).unit == "bill"
    text = (folder / "scenario.toml").read_text("utf-8")
    (folder / "scenario.toml").write_text(text.replace('"bill"', '"sum"'), "utf-8")
    assert register(folder).unit == plugins.scenario("suppliers").unit == "sum"
    assert registered() == {"suppliers": folder.resolve()}


def test_two_scenarios_cannot_share_a_name(tmp_path: Path) -> None:
    """A question always has the rules of its own scenario."""
    register(SUPPLIERS)
    folder = Path(shutil.copytree(SUPPLIERS, tmp_path / "mine"))
    with pytest.raises(UsageError, match="already used by"):
        register(folder)
    text = (folder / "scenario.toml").read_text("utf-8")
    (folder / "scenario.toml").write_text(text.replace('"suppliers"', '"stocks"', 1), "utf-8")
    with pytest.raises(UsageError, match="'stocks' is already used by a scenario of this"):
        register(folder)


def test_a_missing_simulator_or_generator_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the scenario and the part."""
    found = plugins.scenario("locating")
    for part, value, words in (
        ("simulator", "no_such_package:X", "simulator of scenario 'locating' is no_such_package:X"),
        ("simulator", "builtins:len", "has the wrong type"),
        ("simulator", "builtins:int", "a class, not an object of"),
        ("generator", "dqa.plugins:LOST", "cannot be loaded: AttributeError"),
    ):
        outcomes = found.outcomes.model_copy(update={"python": value})
        changes = {"outcomes": outcomes, "generator": GeneratorPart(python=value)}
        broken = replace(found, document=found.document.model_copy(update=changes))
        monkeypatch.setattr(plugins, "scenario", lambda _, broken=broken: broken)
        with pytest.raises(PluginError, match=words):
            getattr(plugins, part)("locating")


def test_the_error_of_an_unknown_scenario_lists_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'stocks'"):
        plugins.scenario("stock")
    with pytest.raises(UnknownNameError, match=r"building, locating.*Did you mean 'locating'"):
        plugins.simulator("locatin")
    with pytest.raises(UsageError, match=r"'stocks' has no simulator.*: building, locating"):
        plugins.simulator("stocks")
