"""Tools for tests of decisions: fixtures for pytest, and the classes and functions behind them.

The fixtures `dqa_ask`, `dqa_database`, `dqa_scripted`, `dqa_questions` and `dqa_server` are
available if this package is installed; docs/testing.md describes them. The functions also work
without pytest::

    import dqa
    from dqa.testing import PreparedReplies, answer, assert_choice, query

    tables = {"supplier": {"name": ["north", "south"], "price": [3, 2]}}
    with dqa.temporary_database(tables) as shop:
        model = PreparedReplies([query("SELECT name, price FROM supplier"), answer("south")])
        assert_choice(dqa.ask(shop, "Which supplier is the cheapest?", model=model), "south")
"""

from __future__ import annotations

import dqa

__getattr__, __dir__ = dqa.lazy_names(__name__, __file__)
