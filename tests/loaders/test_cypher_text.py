"""The reader and writer of Cypher scripts."""

from __future__ import annotations

from pathlib import Path

import pytest

from dqa.core.errors import ParseError
from dqa.core.situation import Situation
from dqa.loaders.cypher_text import parse_cypher
from dqa.loaders.sql_text import parse_sql
from tests.loaders.scripts import CYPHER, CYPHER_EDGES, CYPHER_NODES, LOCATING, SQL

FILE = Path("q1.cql")


def _locating(text: str) -> Situation:
    parsed = parse_cypher(text, LOCATING, FILE)
    assert parsed.defects == ()
    return parsed.situation


def test_the_graph_form_is_the_same_situation_as_the_relational_form() -> None:
    """Nodes and edges fill the very tables that INSERT does."""
    assert _locating(CYPHER) == parse_sql(SQL, LOCATING, Path("q1.sql")).situation


@pytest.mark.parametrize(
    "text",
    [
        CYPHER.replace("\n", "\r\n"),
        CYPHER.replace('"', "'"),
        CYPHER.replace(";\n", "; "),
        CYPHER.replace("CREATE", "\ncreate\n").replace("TRUE", "true"),
        CYPHER.replace("[r:", "[:").replace("(SWE:Country {n", "(`the one`:Country {n")
        .replace("(SWE)", "(`the one`)"),
        CYPHER.replace("(krakow)-[r:source{flow:0.25}]->(baltic)",
                       "(baltic)<-[r:source{flow:0.25}]-(krakow)"),
        "// a comment; with 'quotes'\n/* and\nmore */\n\n" + CYPHER,
        "CREATE CONSTRAINT c FOR (n:Country) REQUIRE n.name IS UNIQUE;\n" + CYPHER.rstrip(";\n"),
        CYPHER_NODES.replace(";", "") + "CREATE (krakow)-[:source {flow: 0.25}]->(baltic), "
        "(SWE)-[:NodeCountry {calculated_trading_power: 3.5, is_home: true, has_merchant: false,"
        " base_trading_power: 3.5}]->(baltic)",
    ],
    ids=["crlf", "quotes", "one-line", "split", "names", "backwards", "comments", "constraint",
         "one-statement"],
)  # fmt: skip
def test_other_spellings_of_a_script_are_the_same_situation(text: str) -> None:
    """Line ends, quotes, directions and variables do not change what is read."""
    assert _locating(text) == _locating(CYPHER)


@pytest.mark.parametrize(
    ("literal", "meant"),
    [
        (r"'it\'s'", "it's"),
        (r'"it\'s"', "it's"),
        (r"'\u0041\\\u0075'", "A\\u"),
        (r"'a\tb'", "a\tb"),
        ("'two\nlines'", "two\nlines"),
        ("'});\nCREATE (x)'", "});\nCREATE (x)"),
        ("'// no comment'", "// no comment"),
    ],
)
def test_strings_mean_what_neo4j_takes_them_for(literal: str, meant: str) -> None:
    """Escapes, line breaks and what looks like Cypher stay inside their string."""
    situation = _locating(CYPHER.replace('"SWE"', literal))
    assert situation["country"]["country_name"].tolist() == [meant]


@pytest.mark.parametrize("separator", ["\n", " "], ids=["fast", "tolerant"])
def test_truth_values_as_text_and_misspelt_properties_are_survived(separator: str) -> None:
    """Both known defects of the release are read as meant and reported with their line."""
    text = CYPHER_NODES + CYPHER_EDGES.replace(
        "has_merchant: false", 'has_has_merchant:  "False"'
    ).replace("\n", separator)
    parsed = parse_cypher(text, LOCATING, FILE)
    assert parsed.situation == _locating(CYPHER)
    assert {d.problem.split(" ", 1)[1] for d in parsed.defects} == {
        "misspells 'has_merchant' as 'has_has_merchant'",
        "holds text instead of boolean values",
    }
    assert {d.line for d in parsed.defects} == {5 if separator == "\n" else 4}


def test_edges_that_match_no_node_do_not_come_to_be() -> None:
    """MATCH finds nothing, neither a node that is never made nor one that is made later."""
    atlantis = CYPHER_EDGES.splitlines()[0].replace('"baltic"', '"atlantis"') + "\n"
    parsed = parse_cypher(CYPHER + atlantis, LOCATING, FILE)
    assert parsed.situation == _locating(CYPHER)
    assert [d.line for d in parsed.defects] == [6]
    early = parse_cypher(CYPHER_EDGES + CYPHER_NODES, LOCATING, FILE)
    assert len(early.situation["flow"]) == len(early.situation["node_country"]) == 0
    assert [d.line for d in early.defects] == [1, 2]


def test_a_node_made_twice_is_kept_once() -> None:
    """A key identifies one node."""
    again = CYPHER_NODES.splitlines()[2] + "\n"
    parsed = parse_cypher(CYPHER_NODES + again + CYPHER_EDGES, LOCATING, FILE)
    assert parsed.situation == _locating(CYPHER)
    assert [(d.line, d.action) for d in parsed.defects] == [(4, "the first row is kept")]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", None, "no CREATE of a Trade_node"),
        (CYPHER + "RETURN 1", 6, "found word 'RETURN'; expected MATCH, CREATE"),
        (CYPHER.replace(":Country {name:", ":Realm {name:", 1), 3, "found label 'Realm'"),
        (CYPHER.replace("0.25}]->", "0.25}]-"), 4, "expected Cypher '>'"),
        (CYPHER.replace("r:source", "r:flows"), 4, "found (:Trade_node)-[:flows]->(:Trade_node)"),
        (CYPHER.replace("(krakow)-", "(cracow)-"), 4, "'cracow' is not bound"),
        (CYPHER.replace('(SWE:Country {name:"SWE"})', '(SWE:Country {home_node:"baltic"})'), 5,
         "expected its key 'name'"),
        (CYPHER.replace("development:107.373", "development:true"), 3, "expected float"),
        (CYPHER.replace('home_node:"baltic", ', ""), 3, "'home_node' holds None; expected text"),
        (CYPHER.replace("0.25", "{}"), 4, "expected a quoted string"),
    ],
)  # fmt: skip
def test_faults_name_the_line_and_what_was_expected(
    text: str, line: int | None, message: str
) -> None:
    """The error carries file and line, and says what should have stood there."""
    with pytest.raises(ParseError) as caught:
        parse_cypher(text, LOCATING, FILE)
    assert message in caught.value.problem
    assert caught.value.line == line
