"""Which critical values runs looked at, and how; the golden runs and the variations have more."""

from __future__ import annotations

import pytest

from dqa import plugins
from dqa.core.database import Cut
from dqa.core.evidence import Evidence
from dqa.core.question import Question
from dqa.evaluation.analysis import Asked, Relevance, found_values
from dqa.evaluation.analysis.critical_values import critical
from dqa.evaluation.analysis.statements import readings_of
from tests.evaluation.analysis.golden_runs import relevance
from tests.evaluation.analysis.runs import empty, failed, ran

LOMAR = ("locating", "straits", "Lomar")
"""At home in corrin, where value arrives from velm, ulmen and, behind that, north_pass."""
FISH = ("building", "harbour", "fish")
POWER = "SELECT total_power FROM trade_node WHERE trade_node = 'ulmen'"


def found(
    *evidence: Evidence, about: tuple[str, str, str] = LOMAR, known: bool = True
) -> tuple[str, ...]:
    """Return how a run on SQLite came by its scenario's values."""
    turning = relevance(*about) if known else Relevance()
    schema = plugins.scenario(about[0]).schema
    asked = [Asked(e, readings_of(e, schema, "relational", "sqlite")) for e in evidence]
    return tuple(how.value for how in found_values(asked, critical(about[0]), turning).values())


@pytest.mark.parametrize(
    ("evidence", "values"),
    [
        ([], ("missed", "missed")),
        ([ran(POWER, "[21.5]")], ("missed", "shown")),
        ([failed(POWER), empty(POWER)], ("missed", "missed")),
        ([ran(POWER, "[null]")], ("missed", "missed")),
        (
            [ran("SELECT 1.05 * SUM(flow) FROM flow WHERE dest = 'corrin'", "[3.465]")],
            ("worked out", "missed"),
        ),
        (
            [ran("SELECT SUM(flow) FROM flow WHERE dest = 'velm'", "[null]")],
            ("worked out", "missed"),
        ),
        ([ran("SELECT SUM(flow) FROM flow WHERE dest = 'Velm'", "[null]")], ("missed", "missed")),
        ([ran("SELECT SUM(flow) FROM flow WHERE source = 'ulmen'", "[6.6]")], ("missed", "missed")),
        (
            [ran("SELECT SUM(DISTINCT flow) FROM flow WHERE dest = 'corrin'", "[3.3]")],
            ("missed", "missed"),
        ),
        ([ran("all", tool="compare")], ("simulated", "simulated")),
        ([ran(POWER, "[21.5]"), ran("a", tool="simulate")], ("simulated", "shown")),
        ([failed("nowhere", tool="simulate")], ("missed", "missed")),
    ],
)
def test_only_what_rows_show_of_what_matters_counts(
    evidence: list[Evidence], values: tuple[str, str]
) -> None:
    """Neither what failed nor what is missing, and an empty sum only of a node that exists."""
    assert found(*evidence) == values


@pytest.mark.parametrize(
    ("rows", "how"),
    [(['["velm", 0.0]', '["ulmen", 3.3]'], "parts"), (['["velm", 0.0]'], "missed")],
)
def test_parts_count_where_all_of_them_are_shown(rows: list[str], how: str) -> None:
    """A flow that was cut away is missing in the sum."""
    listed = ran("SELECT source, flow FROM flow WHERE dest = 'corrin'", *rows)
    assert found(listed) == (how, "missed")


def test_parts_may_come_from_several_statements() -> None:
    """All routes out of every source of a node are all routes into it, too."""
    one = ran("SELECT dest, flow FROM flow WHERE source = 'velm'", '["corrin", 0.0]')
    other = ran(
        "SELECT dest, flow FROM flow WHERE source = 'ulmen'", '["dovra", 3.3]', '["corrin", 3.3]'
    )
    assert found(one) == ("missed", "missed")
    assert found(one, other) == ("parts", "missed")


def test_current_output_can_be_worked_out_and_the_populations_demand_solved_for() -> None:
    """The mean of the inputs' shares is an output only together with the most that is made."""
    share = "AVG(d.current_input / d.max_demand)"
    source = (
        "FROM supply s JOIN demand d ON d.building_id = s.building_id "
        "WHERE s.goods_id = 18 GROUP BY s.building_id"
    )
    whole, part = (ran(f"SELECT {x} {source}", "[1.0]") for x in (f"s.max_supply * {share}", share))
    assert found(whole, about=FISH) == ("worked out", "missed")
    assert found(part, about=FISH) == ("missed", "missed")
    solved = "s.current_output / (1 - (g.current_price / g.base_price - 1) / 0.75)"
    tables = "FROM supply s JOIN goods g ON g.code = s.goods_id WHERE g.goods_name = 'fish'"
    assert found(ran(f"SELECT {solved} {tables}", "[1.0]"), about=FISH) == ("worked out",) * 2
    prices = ran(f"SELECT g.current_price / g.base_price {tables}", "[1.2]")
    assert found(prices, about=FISH) == ("missed", "missed")


@pytest.mark.parametrize(
    ("row", "how"), [("s.current_output * 5.0 / s.level", "not needed"), ("s.level", "missed")]
)
def test_a_comparison_by_added_output_needs_no_demand(row: str, how: str) -> None:
    """It is the same whichever maker grows; listing output and level compares nothing yet."""
    statement = f"SELECT s.building_id, s.current_output, {row} FROM supply s WHERE s.goods_id = 18"
    assert found(ran(statement, "[312, 130.147, 7]"), about=FISH) == ("shown", how)


@pytest.mark.parametrize(
    ("evidence", "values"),
    [
        ([ran("SELECT ingoing FROM trade_node", "[11.918]")], ("shown", "missed")),
        ([ran("SELECT flow FROM flow WHERE dest = 'x'", "[1]")], ("parts", "missed")),
        ([ran("SELECT flow FROM flow WHERE source = 'x'", "[1]")], ("missed", "missed")),
        ([ran("SELECT SUM(flow) FROM flow WHERE dest = 'x'", "[null]")], ("missed", "missed")),
        ([ran("SELECT SUM(flow) FROM flow WHERE dest = 'x'", "[0.0]")], ("missed", "missed")),
        ([ran("SELECT AVG(ingoing) FROM trade_node", "[4.0]")], ("missed", "missed")),
    ],
)
def test_without_the_data_any_node_counts(
    evidence: list[Evidence], values: tuple[str, str]
) -> None:
    """Nobody knows then which of them matter, or which names exist."""
    assert found(*evidence, known=False) == values


@pytest.mark.parametrize("cut", ["rows", None])
def test_without_the_data_a_cut_list_of_parts_is_none(cut: Cut | None) -> None:
    """What is behind the cut is not known."""
    listed = Evidence("SELECT flow FROM flow WHERE dest = 'x'", '["flow"]\n[1]', 1, cut=cut)
    assert found(listed, known=False) == ("missed" if cut else "parts", "missed")


def test_what_matters_is_all_that_leads_to_the_thing_asked_about() -> None:
    """Nodes from which value reaches home; goods, what goes into them, and the makers of all."""
    assert relevance(*LOMAR).keys == {
        "trade_node": frozenset({"corrin", "velm", "ulmen", "north_pass"})
    }
    fish = relevance(*FISH).keys
    assert fish is not None
    assert fish["goods"] == frozenset({18, 19, 13, 16, 17, 15})
    assert fish["building"] == frozenset({312, 313, 314, 315, 304, 305, 309, 310, 311, 308})
    unknown = Question("locating", "x", "", "", "straits", {})
    data = relevance(*LOMAR).data
    assert data is not None
    assert Relevance.of(plugins.scenario("locating"), unknown, data).keys == {}
