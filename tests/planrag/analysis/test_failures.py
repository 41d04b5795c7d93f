"""Each class of failure on a handwritten run."""

from __future__ import annotations

from typing import Any

import pytest

from dqa import plugins
from dqa.core.evidence import Evidence
from dqa.evaluation.results import Outcome
from dqa_planrag.analysis import failure_of
from dqa_planrag.analysis.critical import Asked, Found, Relevance, read_statements
from tests.planrag.analysis.golden_runs import worlds
from tests.planrag.analysis.runs import failed, make_case, ran

ALL = {"IV": Found.SHOWN, "TP_total": Found.WORKED_OUT}
SOME = {"IV": Found.PARTS, "TP_total": Found.MISSED}
NO_CHOICE: dict[str, Any] = {
    "choice": None,
    "value": None,
    "regret": None,
    "relative_regret": None,
    "rank": None,
}
UNSEEN = {**NO_CHOICE, "outcome": Outcome.NO_CANDIDATE, "answer": "Atlantis"}
LIMIT = {**NO_CHOICE, "outcome": Outcome.STEP_LIMIT, "answer": ""}
SEEN = ran("SELECT 1", '["deccan", 1.5]', '["doab", 2]')


@pytest.mark.parametrize(
    ("evidence", "found", "result", "kind"),
    [
        pytest.param([SEEN], ALL, {}, "DEEP", id="all data was read"),
        pytest.param([SEEN], SOME, {}, "MIS", id="a critical value was missed"),
        pytest.param([SEEN], ALL, {"relative_regret": 1.0}, "CAN", id="nothing is gained"),
        pytest.param(
            [SEEN], ALL, {"relative_regret": None, "value": 1.0}, "CAN", id="as good as nothing"
        ),
        pytest.param(
            [SEEN],
            ALL,
            {"relative_regret": None, "value": None, "baseline": None, "goal": None},
            "DEEP",
            id="unknown gain without a simulator",
        ),
        pytest.param(
            [SEEN, ran("SELECT SUM(flow) FROM flow WHERE dest = 'Atlantis'", "[null]")],
            ALL,
            UNSEEN,
            "OTH",
            id="summed without result",
        ),
        pytest.param([SEEN], ALL, LIMIT, "OTH", id="out of steps"),
        pytest.param(
            [SEEN], ALL, {**UNSEEN, "outcome": Outcome.AMBIGUOUS}, "OTH", id="several names"
        ),
        pytest.param([failed("x")], SOME, {}, "QUR", id="the only statement failed"),
        pytest.param(
            [failed("x"), SEEN, SEEN], SOME, {}, "MIS", id="most statements returned rows"
        ),
        pytest.param([SEEN, failed("x")], {}, {}, "DEEP", id="no critical values, and a row"),
    ],
)
def test_every_failure_has_its_class(
    evidence: list[Evidence], found: dict[str, Found], result: dict[str, Any], kind: str
) -> None:
    """The first rule that fits decides."""
    asked = tuple(map(Asked, evidence))
    failure = failure_of(make_case(*evidence, **result), found, asked, Relevance())
    assert failure is not None
    assert (failure[0], bool(failure[1])) == (kind, True)


def test_a_right_answer_is_not_a_failure() -> None:
    case = make_case(SEEN, outcome=Outcome.CORRECT)
    assert failure_of(case, SOME, (Asked(SEEN),), Relevance()) is None


@pytest.mark.parametrize(
    ("answer", "kind"), [("'Corrin'.", "CAN"), ("Pellan", "CAN"), ("x", "OTH")]
)
def test_unread_names_of_the_database_count_as_known(answer: str, kind: str) -> None:
    """A node or country that is not a candidate has class CAN if the data is available."""
    case = make_case(SEEN, **{**UNSEEN, "answer": answer})
    known = Relevance(worlds()["straits"])
    failure = failure_of(case, ALL, (Asked(SEEN),), known)
    assert failure is not None
    assert failure[0] == kind


@pytest.mark.parametrize(
    ("statement", "row", "expected"),
    [
        ("SELECT SUM(flow) FROM flow WHERE dest = 'velm'", "[null]", True),
        ("SELECT SUM(flow) FROM flow WHERE dest = 'Velm'", "[null]", False),
        ("SELECT COUNT(*), COALESCE(SUM(flow), 0) FROM flow WHERE dest = 'Velm'", "[0, 0]", False),
        ("SELECT COUNT(*) FROM flow WHERE dest = 'velm'", "[0]", True),
        ("SELECT flow FROM flow WHERE dest = 'corrin' AND source = 'velm'", "[0.0]", True),
        ("SELECT flow FROM flow WHERE dest = 'corrin'", "[null]", False),
    ],
)
def test_an_empty_result_is_data_if_its_node_exists(
    statement: str, row: str, *, expected: bool
) -> None:
    """A sum of no row is data about a node, but not about a misspelt name."""
    straits = worlds()["straits"]
    trace = make_case(ran(statement, row), database="sqlite").trace
    (asked,) = read_statements(trace, plugins.scenario("locating").schema)
    assert asked.brought_data(Relevance(straits)) is expected
