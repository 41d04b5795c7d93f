"""Small situations for the tests of simulators, handwritten and drawn by hypothesis."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from dqa import plugins
from dqa.core.question import Question
from dqa.core.situation import Cell, Schema, Situation, Table

Row = Sequence[Cell]


def world(
    *,
    countries: Sequence[Row],
    nodes: Sequence[Row],
    flows: Sequence[tuple[str, str]],
    presence: Sequence[Row],
    name: str = "world",
) -> Situation:
    """Make a Locating situation.

    Nodes are ``(name, local_value, is_inland[, total_power, ingoing])``, presence is ``(node,
    country, is_home, has_merchant, base_trading_power)``.
    """
    filled = [(*node[:3], *(node[3:4] or (0.0,)), 0.0, *(node[4:5] or (0.0,))) for node in nodes]
    rows: dict[str, list[Row]] = {
        "country": list(countries),
        "trade_node": list(filled),
        "flow": [(source, dest, 0.0) for source, dest in flows],
        "node_country": [(*row, row[4]) for row in presence],
    }
    return _situation(plugins.scenario("locating").schema, rows, name)


def economy(
    *,
    goods: Sequence[Row],
    buildings: Sequence[Row],
    supply: Sequence[Row],
    demand: Sequence[Row],
    name: str = "economy",
) -> Situation:
    """Make a Building situation.

    Goods are ``(code, base_price, pop_demand)``, called ``goods<code>``; buildings ``(id, level)``;
    supply ``(goods, building, max_supply, current_output)``; demand ``(goods, building,
    max_demand)``.
    """
    levels = {row[0]: row[1] for row in buildings}
    rows: dict[str, list[Row]] = {
        "goods": [(f"goods{code}", code, base, base, pop) for code, base, pop in goods],
        "building": [(key, "works", level) for key, level in buildings],
        "supply": [(*row, levels.get(row[1], 1)) for row in supply],
        "demand": [(*row, 0.0, levels.get(row[1], 1)) for row in demand],
    }
    return _situation(plugins.scenario("building").schema, rows, name)


def _situation(schema: Schema, rows: dict[str, list[Row]], name: str) -> Situation:
    tables = {table.name: Table.from_rows(table, rows[table.name]) for table in schema.tables}
    return Situation(schema, name, tables)


def locating_question(country: str, home: str) -> Question:
    """Ask where a country whose home is `home` places its merchant."""
    return Question("locating", "1", "", "", target={"country": country, "home": home})


def building_question(goods: str) -> Question:
    """Ask which building to expand for the lowest price of some goods."""
    return Question("building", "1", "", "", target={"goods": goods})


AMOUNTS = st.one_of(
    st.just(0.0),
    st.integers(1, 9).map(float),
    st.floats(0.001, 1000.0, allow_nan=False).map(lambda x: round(x, 3)),
)
"""Zeros and small whole numbers make ties; the others make rounding matter."""


@st.composite
def worlds(draw: st.DrawFn) -> tuple[Situation, list[Question]]:
    """Draw a trade world and a question for each of its countries."""
    count = draw(st.integers(2, 7))
    names = [f"n{i}" for i in range(count)]
    upstream = draw(st.permutations(names))
    pairs = [(a, b) for i, a in enumerate(upstream) for b in upstream[i + 1 :]]
    flows = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=14))
    nodes = [
        (node, draw(AMOUNTS), draw(st.booleans()), draw(AMOUNTS), draw(AMOUNTS))
        for node in draw(st.permutations(names))
    ]
    homes = draw(st.lists(st.sampled_from(names), min_size=1, max_size=4))
    countries = [(f"C{i}", home, draw(AMOUNTS)) for i, home in enumerate(homes)]
    places = [(node, f"C{i}") for node in names for i in range(len(homes))]
    present = draw(st.lists(st.sampled_from(places), unique=True))
    presence = [
        (node, country, homes[int(country[1:])] == node, draw(st.booleans()), draw(AMOUNTS))
        for node, country in present
    ]
    situation = world(countries=countries, nodes=nodes, flows=flows, presence=presence)
    questions = [locating_question(f"C{i}", home) for i, home in enumerate(homes)]
    return situation, questions


@st.composite
def economies(draw: st.DrawFn) -> tuple[Situation, list[Question]]:
    """Draw an economy and a question for each of its goods."""
    codes = list(range(draw(st.integers(1, 5))))
    ids = list(range(10, 10 + draw(st.integers(1, 5))))
    cells = [(code, key) for code in codes for key in ids]
    situation = economy(
        goods=[(code, draw(AMOUNTS), draw(AMOUNTS)) for code in codes],
        buildings=[(key, draw(st.integers(0, 9))) for key in ids],
        supply=[
            (*cell, draw(AMOUNTS), draw(AMOUNTS))
            for cell in draw(st.lists(st.sampled_from(cells), unique=True))
        ],
        demand=[
            (*cell, draw(AMOUNTS)) for cell in draw(st.lists(st.sampled_from(cells), unique=True))
        ],
    )
    return situation, [building_question(f"goods{code}") for code in codes]
