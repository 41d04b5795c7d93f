"""Whoever opens a database says what of it may be read, on every kind of database alike."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dqa import plugins
from dqa.core.errors import UsageError
from dqa.core.schema import describe
from dqa.core.situation import Situation
from dqa.guard import Policy
from dqa.guard.policy_fields import OF_GRAPH, OF_TABLES
from dqa.guard.visible import require_known

MAPPINGS = {"masks": {"country.x": 1}, "row_filters": {"country": "x = 1"}}
USELESS: list[tuple[str, dict[str, Any], str]] = [
    ("sqlite", {"denied_columns": {"countri.development"}}, "'country.development'"),
    ("sqlite", {"denied_columns": {"developmint"}}, "'development'"),
    ("sqlite", {"tables": {"county"}}, "no such table.* 'country'"),
    ("sqlite", {"columns": {"country.nix"}}, "no such column"),
    ("ladybug", {"labels": {"Contry"}}, "no such label.* 'Country'"),
    ("ladybug", {"relationship_types": {"NodeCounty"}}, "no such relationship type"),
    ("ladybug", {"denied_properties": {"Country.developmint"}}, "'Country.development'"),
    *(
        ("ladybug", {n: {"Country.x"}, "labels": {"Country"}}, n)
        for n in OF_TABLES - MAPPINGS.keys()
    ),
    ("ladybug", {**MAPPINGS, "labels": {"Country"}}, "masks, row_filters"),
    *(("sqlite", {n: {"Country.x"}, "tables": {"country"}}, n) for n in OF_GRAPH),
]


def test_a_useless_policy_is_refused_when_a_database_is_opened(
    situation: Situation, tmp_path: Path
) -> None:
    """It would protect nothing without a word: a misspelt name, or tables of a graph."""
    for name in ("sqlite", "ladybug"):
        plugins.backend(name).load(situation, str(tmp_path / name)).close()
    for name, lists, words in USELESS:
        with pytest.raises(UsageError, match=words):
            plugins.backend(name).open(str(tmp_path / name), policy=Policy(**lists))


def test_a_policy_for_several_databases_names_what_one_of_them_has(situation: Situation) -> None:
    """An evaluation opens databases of several scenarios with one policy."""
    whole = describe(situation.schema)
    tables, graph = replace(whole, nodes=(), edges=()), replace(whole, tables=())
    both = Policy(denied_columns=frozenset({"development"}), labels=frozenset({"Country"}))
    require_known(both, [tables, graph])
    require_known(both, [tables])  # labels are of the other kind of database
    with pytest.raises(UsageError, match="denied_columns contains 'nix'"):
        require_known(Policy(denied_columns=frozenset({"nix"})), [graph, tables])
    require_known(Policy(labels=frozenset({"COUNTRY"})), [graph], fold=True)
    require_known(Policy(tables=frozenset({"other.t"}), columns=frozenset({"t.a"})), [tables])
