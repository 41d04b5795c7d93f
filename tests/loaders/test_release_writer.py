"""The writer of the release's layout."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dqa import plugins
from dqa.core.errors import DataError, UsageError
from dqa.core.question_set import QuestionSet
from dqa.core.situation import Cell, Situation, Table
from dqa.core.truth import LabelledQuestion, Truth
from dqa.loaders import cypher_text, sql_text
from dqa.loaders.cypher_text import parse_cypher, render_cypher
from dqa.loaders.release import read_release
from dqa.loaders.release_layout import FORMS
from dqa.loaders.release_writer import write_release
from dqa.loaders.sql_text import parse_sql, render_sql
from tests.loaders.scripts import BUILDING, LOCATING, locating_entry, write_locating

TEXTS = st.text(max_size=12) | st.sampled_from(
    [
        "'",
        '"',
        "\\",
        "\\'",
        "\\u0041",
        "a\nb",
        "\r\n",
        "\0\x1a",
        "''",
        "});",
        "--",
        "\u2028",
        "é",
        "NULL",
    ]
)
FLOATS = st.floats(allow_infinity=False)
NAMES = st.lists(TEXTS, min_size=1, max_size=4, unique=True)


@st.composite
def locating_situations(draw: st.DrawFn) -> Situation:
    """Small Locating situations of any names and numbers, every edge between nodes there are."""
    nodes, countries = draw(NAMES), draw(NAMES)
    flows = draw(st.sets(st.tuples(st.sampled_from(nodes), st.sampled_from(nodes))).map(sorted))
    presence = draw(
        st.sets(st.tuples(st.sampled_from(nodes), st.sampled_from(countries))).map(sorted)
    )
    rows: dict[str, list[tuple[Cell, ...]]] = {
        "country": [(name, draw(TEXTS), draw(FLOATS)) for name in countries],
        "trade_node": [
            (name, draw(FLOATS), draw(st.booleans()), *(draw(FLOATS) for _ in range(3)))
            for name in nodes
        ],
        "flow": [(*ends, draw(FLOATS)) for ends in flows],
        "node_country": [
            (*ends, draw(st.booleans()), draw(st.booleans()), draw(FLOATS), draw(FLOATS))
            for ends in presence
        ],
    }
    tables = {t.name: Table.from_rows(t, rows[t.name]) for t in LOCATING.tables}
    return Situation(LOCATING, "q1", tables)


@settings(max_examples=60, deadline=None)
@given(locating_situations())
def test_any_situation_is_read_back_bit_for_bit(situation: Situation) -> None:
    """Quotes, line breaks, other alphabets, tiny and huge numbers survive both forms."""
    sql = parse_sql(render_sql(situation), LOCATING, Path("q1.sql"))
    cypher = parse_cypher(render_cypher(situation), LOCATING, Path("q1.cql"))
    assert sql.situation == cypher.situation == situation
    assert sql.defects == cypher.defects == ()


@settings(max_examples=15, deadline=None)
@given(
    levels=st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=4),
    name=TEXTS,
    price=FLOATS,
)
def test_whole_numbers_are_read_back_whole(levels: list[int], name: str, price: float) -> None:
    """Building's ids and levels are integers, of 64 bits if need be."""
    tables = {t.name: Table.from_rows(t, ()) for t in BUILDING.tables}
    goods = [(name, 1, price, price, price)]
    tables["goods"] = Table.from_rows(BUILDING.table("goods"), goods)
    rows = [(number, name, level) for number, level in enumerate(levels)]
    tables["building"] = Table.from_rows(BUILDING.table("building"), rows)
    situation = Situation(BUILDING, "X", tables)
    for form, file in (("relational", "X.sql"), ("graph", "X.cql")):
        parse, render = FORMS[form].parse, FORMS[form].render  # type: ignore[index]
        assert parse(render(situation), BUILDING, Path(file)).situation == situation


@settings(max_examples=10, deadline=None)
@given(locating_situations())
def test_a_written_set_is_read_back_equal(situation: Situation) -> None:
    """Questions, situations and their names; the same set gives the same bytes."""
    scenario = plugins.scenario("locating")
    target = {
        "country": situation["country"]["country_name"][0] or "-",
        "home": situation["trade_node"]["trade_node"][0] or "-",
    }
    country = situation["country"].replace(
        country_name=[target["country"], *situation["country"]["country_name"][1:]]
    )
    nodes = situation["trade_node"].replace(
        trade_node=[target["home"], *situation["trade_node"]["trade_node"][1:]]
    )
    empty = {name: Table.from_rows(LOCATING.table(name), ()) for name in ("flow", "node_country")}
    situation = situation.replace(country=country, trade_node=nodes, **empty)
    question = replace(scenario.question(situation, "1", target), text="Where?")
    if not question.candidates or len(set(nodes["trade_node"])) < len(nodes):
        return
    if len(set(country["country_name"])) < len(country):
        return
    asked = [LabelledQuestion(replace(question, id=i), Truth(("x",))) for i in ("1", "2")]
    written = QuestionSet.of("mine", asked, {situation.name: situation})
    with TemporaryDirectory() as one, TemporaryDirectory() as other:
        paths = write_release(written, one)
        again = write_release(written, other)
        assert [p.read_bytes() for p in paths] == [p.read_bytes() for p in again]
        for form in FORMS:
            read = read_release(one, form=form)
            assert read.labelled == written.labelled
            assert read.situations == written.situations


def test_the_release_itself_can_be_written_again(release_dir: Path, tmp_path: Path) -> None:
    """What was read from the release is read again from the copy, without its defects."""
    question_set = read_release(release_dir)
    paths = write_release(question_set, tmp_path / "copy")
    assert list(paths) == sorted(paths)
    copy = read_release(tmp_path / "copy", strict=True)
    assert copy.labelled == question_set.labelled
    assert copy.situations == question_set.situations


def test_what_is_written_takes_the_fast_path_of_the_reader(release_dir: Path) -> None:
    """One regular expression a table or label covers every line of both forms."""
    for name, situation in read_release(release_dir).situations.items():
        sql, cypher = render_sql(situation), render_cypher(situation)
        fast_sql = sql_text._fast(sql, situation.schema, Path(name))
        fast_cypher = cypher_text._Fast(cypher, situation.schema, Path(name)).parse()
        assert fast_sql is not None
        assert fast_cypher is not None
        assert fast_sql.situation == fast_cypher.situation == situation


def test_a_folder_with_something_in_it_is_not_written_to(tmp_path: Path) -> None:
    """Nobody's files are overwritten."""
    question_set = read_release(write_locating(tmp_path, [locating_entry()]))
    with pytest.raises(UsageError, match="is not empty"):
        write_release(question_set, tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": "first"}, "numbers its questions"),
        ({"id": "01"}, "numbers its questions"),
        ({"answers": ()}, "exactly one str"),
        ({"answers": ("krakow", "baltic")}, "exactly one str"),
        ({"scenario": "custom"}, "holds locating, building"),
        ({"target": {"country": "SWE"}}, "the release holds country, home, year"),
        ({"target": {"country": "SWE", "home": "baltic", "x": "y"}}, "the release holds country"),
    ],
)
def test_what_the_layout_has_no_room_for_is_refused(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    """Nothing is lost without a word, and nothing is written before all is known to fit."""
    question_set = read_release(write_locating(tmp_path / "in", [locating_entry()]))
    ((question, truth),) = question_set.labelled
    if "answers" in change:
        truth = Truth(change["answers"])  # type: ignore[arg-type]
    else:
        question = replace(question, **change)  # type: ignore[arg-type]
    changed = QuestionSet.of("x", [LabelledQuestion(question, truth)], question_set.situations)
    with pytest.raises(DataError, match=message):
        write_release(changed, tmp_path / "out")
    assert not (tmp_path / "out").exists()
