"""Scenarios: kinds of decision questions, each read from a folder of its own."""

from dqa.scenarios.base import Scenario
from dqa.scenarios.catalogue import register, registered, scenario_name, scenarios
from dqa.scenarios.reading import read_scenario

__all__ = ["Scenario", "read_scenario", "register", "registered", "scenario_name", "scenarios"]
