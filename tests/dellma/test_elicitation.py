"""Utility elicitation: one minibatch to its ranking (section 3.3)."""

from __future__ import annotations

import json

import numpy as np
import pytest

from dqa_dellma.utilities.pairs import Pairs
from tests.dellma.talking import (
    BELIEFS,
    PROBLEM,
    conversation,
    dellma,
    prompts_of,
    ranking,
)

PAIRS = Pairs(np.array([[0, 0], [1, 1]]), np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))
BATCH = (3, 0, 2)


@pytest.mark.parametrize("key", ["rank", "order", "ranking"])
def test_ranks_become_items(key: str) -> None:
    """The model sees numbers from 1; the ranking holds the items' own numbers."""
    found = conversation(json.dumps({key: [2, 3, 1]}))
    assert dellma().rank(PROBLEM, BELIEFS, PAIRS, BATCH, found) == ranking((0, 2, 3), BATCH)
    text = prompts_of(found)[0]
    assert "\n\nItem 1. Action 2. pear\n- Rain: much\n- Demand: high\n\n" in text
    assert "\n\nItem 2. Action 1. apple\n- Rain: little\n- Demand: low\n\n" in text
    assert "- Rain: little (likely); much (unlikely)" in text


def test_the_preset_shows_whole_states_and_the_reasons_are_stored() -> None:
    """By default an item has the factors that bear on its action."""
    bearing = np.array([[True, True], [True, False]])
    pairs = Pairs(PAIRS.states, PAIRS.state_of, PAIRS.action_of, bearing)
    texts = []
    for options in (dict[str, str](), {"preset": "paper"}):
        found = conversation('{"rank": [2, 3, 1], "explanation": "Apples sell."}')
        decider = dellma(**options)
        assert decider.rank(PROBLEM, BELIEFS, pairs, BATCH, found).explanation == "Apples sell."
        texts.append(prompts_of(found)[0])
    default, paper = texts
    assert "Item 1. Action 2. pear\n- Rain: much\n\n" in default
    assert "Item 1. Action 2. pear\n- Rain: much\n- Demand: high\n\n" in paper
    assert "a list of their own" in default
    assert "a list of their own" not in paper
