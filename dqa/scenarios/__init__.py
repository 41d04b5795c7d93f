"""Scenarios: kinds of decision questions, each read from a folder of its own."""

from dqa.scenarios.base import Scenario
from dqa.scenarios.catalogue import folder_or_name, known_as, register, registered, scenarios
from dqa.scenarios.reading import read_scenario

__all__ = [
    "Scenario",
    "folder_or_name",
    "known_as",
    "read_scenario",
    "register",
    "registered",
    "scenarios",
]
