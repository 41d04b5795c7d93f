"""The writer of the release's layout."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dqa.core.errors import DataError, UsageError
from dqa.core.question_set import QuestionSet
from dqa.core.situation import Cell, Situation, Table
from dqa.core.truth import LabelledQuestion, Truth
from dqa.loaders.reading import read_questions
from dqa.loaders.release import read_release
from dqa.loaders.release_layout import FORMS
from dqa.loaders.release_rendering import render_cypher, render_sql
from dqa.loaders.release_scripts import parse_cypher, parse_sql
from dqa.loaders.release_writer import write_release
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
        "\\\0\x1a",
        "''",
        '""',
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
    """Draw small Locating situations with any names and numbers."""
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


@settings(max_examples=25)
@given(locating_situations())
def test_any_situation_is_read_back_bit_for_bit(situation: Situation) -> None:
    """Quotes, line breaks, other alphabets, tiny and huge numbers survive both forms."""
    sql = parse_sql(render_sql(situation), LOCATING, Path("q1.sql"))
    cypher = parse_cypher(render_cypher(situation), LOCATING, Path("q1.cql"))
    assert sql.situation == cypher.situation == situation
    assert sql.defects == cypher.defects == ()


def test_whole_numbers_of_64_bits_are_read_back_whole() -> None:
    """Building's ids and levels are integers."""
    tables = {t.name: Table.from_rows(t, ()) for t in BUILDING.tables}
    tables["goods"] = Table.from_rows(BUILDING.table("goods"), [("wood", 1, 1.0, 1.0, 1.0)])
    rows = [(0, "least", -(2**63)), (1, "most", 2**63 - 1)]
    tables["building"] = Table.from_rows(BUILDING.table("building"), rows)
    situation = Situation(BUILDING, "X", tables)
    for form, file in (("relational", "X.sql"), ("graph", "X.cql")):
        parse, render = FORMS[form].parse, FORMS[form].render  # type: ignore[index]
        assert parse(render(situation), BUILDING, Path(file)).situation == situation


def test_the_release_itself_can_be_written_again(release: QuestionSet, tmp_path: Path) -> None:
    """The copy gives the same questions, without the defects of the release."""
    paths = write_release(release, tmp_path / "copy")
    assert list(paths) == sorted(paths)
    copy = read_questions(tmp_path / "copy", strict=True)
    assert copy.labelled == release.labelled
    assert copy.situations == release.situations


def test_a_folder_with_files_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are not overwritten, also if the folder cannot be listed."""
    question_set = read_release(write_locating(tmp_path, [locating_entry()]))
    with pytest.raises(UsageError, match="is not empty"):
        write_release(question_set, tmp_path)
    monkeypatch.setattr(Path, "iterdir", Mock(side_effect=PermissionError))
    with pytest.raises(UsageError, match="cannot be used"):
        write_release(question_set, tmp_path)


def test_questions_that_do_not_fit_the_layout_are_refused(tmp_path: Path) -> None:
    """Nothing is written then."""
    question_set = read_release(write_locating(tmp_path / "in", [locating_entry()]))
    ((question, truth),) = question_set.labelled
    for asked, answers, message in (
        (replace(question, id="first"), truth.answers, "must be a number"),
        (question, (), "exactly one answer"),
        (question, ("krakow", "baltic"), "exactly one answer"),
        (
            replace(question, scenario="custom"),
            truth.answers,
            "only the scenarios locating, building",
        ),
        (
            replace(question, target={"country": "SWE"}),
            truth.answers,
            "the release needs exactly country",
        ),
        *(
            (replace(question, scenario="building", situation=name, target={}), (7,), "file name")
            for name in ("", "..", "../x", "a/b", "a\0b", "a\nb", "a\x7f")
        ),
    ):
        labelled = [LabelledQuestion(asked, Truth(answers))]
        changed = QuestionSet.of("x", labelled, question_set.situations)
        with pytest.raises(DataError, match=message):
            write_release(changed, tmp_path / "out")
        assert not (tmp_path / "out").exists()


def test_a_lone_surrogate_in_the_data_is_refused(tmp_path: Path) -> None:
    """A file in UTF-8 cannot store it."""
    question_set = read_release(write_locating(tmp_path / "in", [locating_entry()]))
    ((name, situation),) = question_set.situations.items()
    country = situation["country"]
    columns: dict[str, Any] = {**country.columns, "home_node": ["\ud800"]}
    damaged = {**situation.tables, "country": Table(country.schema, columns)}
    changed = replace(question_set, situations={name: Situation(LOCATING, "q1", damaged)})
    with pytest.raises(DataError, match=r"cannot store its data.*surrogates"):
        write_release(changed, tmp_path / "out")
    assert not (tmp_path / "out").exists()
