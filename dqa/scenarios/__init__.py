"""Scenarios: kinds of decision questions. Each scenario is read from its own folder."""

from dqa.scenarios.base import Scenario
from dqa.scenarios.catalogue import folder_or_name, register, registered, scenario_name, scenarios
from dqa.scenarios.reading import read_scenario

__all__ = [
    "Scenario",
    "folder_or_name",
    "read_scenario",
    "register",
    "registered",
    "scenario_name",
    "scenarios",
]
