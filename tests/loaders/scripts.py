"""Small scripts and releases that the tests of the readers share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dqa import plugins

LOCATING = plugins.scenario("locating").schema
BUILDING = plugins.scenario("building").schema

SQL_TABLES = """\
CREATE TABLE country(country_name VARCHAR(30), home_node VARCHAR(30), development FLOAT,
  PRIMARY KEY (country_name));
CREATE TABLE trade_node(trade_node VARCHAR(30), local_value FLOAT, is_inland BOOLEAN,
  total_power FLOAT, outgoing FLOAT, ingoing FLOAT, PRIMARY KEY (trade_node));
CREATE TABLE flow(source VARCHAR(30), dest VARCHAR(30), flow FLOAT, PRIMARY KEY (source, dest));
CREATE TABLE node_country(trade_node VARCHAR(30), country_name VARCHAR(30), is_home BOOLEAN,
  has_merchant BOOLEAN, base_trading_power FLOAT, calculated_trading_power FLOAT,
  PRIMARY KEY (trade_node, country_name));
"""
SQL_ROWS = """\
INSERT INTO country(country_name,home_node,development) VALUES ("SWE", "baltic", 107.373);
INSERT INTO trade_node(trade_node, local_value, is_inland, total_power, outgoing, ingoing) \
VALUES ("baltic", 1.5, FALSE, 10, 0.0, 0);
INSERT INTO trade_node(trade_node, local_value, is_inland, total_power, outgoing, ingoing) \
VALUES ("krakow", 2.5, TRUE, 1e1, -2E-3, 0);
INSERT INTO flow(source, dest, flow) VALUES ("krakow", "baltic", 0.25);
INSERT INTO node_country(trade_node,country_name, is_home, has_merchant, base_trading_power, \
calculated_trading_power) VALUES ("baltic", "SWE", TRUE, FALSE, 3.5, 3.5);
"""
SQL = SQL_TABLES + SQL_ROWS

CYPHER_NODES = """\
CREATE (baltic:Trade_node {name:"baltic", local_value:1.5, is_inland:false, total_power:10, \
outgoing:0.0, ingoing:0});
CREATE (krakow:Trade_node {name:"krakow", local_value:2.5, is_inland:true, total_power:1e1, \
outgoing:-2E-3, ingoing:0});
CREATE (SWE:Country {name:"SWE", home_node:"baltic", development:107.373});
"""
CYPHER_EDGES = """\
MATCH (krakow:Trade_node {name:"krakow"}), (baltic:Trade_node {name:"baltic"}) \
CREATE (krakow)-[r:source{flow:0.25}]->(baltic);
MATCH (baltic:Trade_node {name:"baltic"}), (SWE:Country {name:"SWE"}) \
CREATE (SWE)-[r:NodeCountry{is_home: true, has_merchant: false,base_trading_power: 3.5,\
calculated_trading_power: 3.5}]->(baltic);
"""
CYPHER = CYPHER_NODES + CYPHER_EDGES

BUILDING_SQL = """\
CREATE TABLE goods(goods_name VARCHAR(30), code INT, base_price FLOAT, current_price FLOAT,
  pop_demand FLOAT, PRIMARY KEY (code));
CREATE TABLE building(id INT, name VARCHAR(80), level INT, PRIMARY KEY (id));
CREATE TABLE supply(goods_id INT, building_id INT, max_supply FLOAT, current_output FLOAT,
  level INT, PRIMARY KEY (goods_id, building_id));
CREATE TABLE demand(goods_id INT, building_id INT, max_demand FLOAT, current_input FLOAT,
  level INT, PRIMARY KEY (goods_id, building_id));
INSERT INTO goods(goods_name,code,base_price, current_price, pop_demand) \
VALUES ("wood", 1, 20, 15.5, 2);
"""
A_BUILDING = 'INSERT INTO building(id, name, level) VALUES (7, "camp", 3);\n'


def locating_entry(number: int = 1, **changes: Any) -> dict[str, Any]:
    """A question of the small Locating database."""
    return {
        "question_num": number,
        "country": "SWE",
        "home": "baltic",
        "year": "1445",
        "question": "\nWhere to?\n",
        "goal": " As much as can be. ",
        "business_rules": "\nTrade well.\n    ",
        "answer": "krakow",
    } | changes


def building_entry(number: int = 1, **changes: Any) -> dict[str, Any]:
    """A question of the small Building database."""
    return {
        "question_num": number,
        "country": "USA1836",
        "goods": "wood",
        "question": "Which one?",
        "business_rules": "Build well.",
        "answer": 7,
    } | changes


def write_locating(
    folder: Path, entries: list[dict[str, Any]], sql: dict[str, str] | None = None
) -> Path:
    """Write a release with the small Locating database for every entry, or with `sql`."""
    files = {f"q{entry['question_num']}": SQL for entry in entries} if sql is None else sql
    return _write(folder, "locating/questions/simulated_question.json", entries, files)


def write_building(folder: Path, entries: list[dict[str, Any]], sql: dict[str, str]) -> Path:
    """Write a release of Building databases."""
    return _write(folder, "building/questions/simulated_questions.json", entries, sql)


def _write(folder: Path, name: str, entries: list[dict[str, Any]], sql: dict[str, str]) -> Path:
    questions = folder / "data" / name
    queries = questions.parents[1] / "queries" / "SQL_format"
    for created in (questions.parent, queries):
        created.mkdir(parents=True)
    questions.write_text(json.dumps(entries, indent=2))
    for stem, text in sql.items():
        (queries / f"{stem}.sql").write_text(text)
    return folder
