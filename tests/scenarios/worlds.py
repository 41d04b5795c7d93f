"""A question of every shipped scenario, and a world whose names are meant to break statements."""

from __future__ import annotations

from functools import cache

from dqa import plugins
from dqa.core.question import Question
from dqa.core.question_set import QuestionSet
from dqa.core.situation import Cell, Situation, Table
from dqa.loaders.generator.generate import generate
from dqa_simulators.locating.generator import LocatingSize

HOSTILE = (
    "plain",
    "o'brien",
    "a''b",
    "back\\slash",
    "end\\",
    "\\'; DROP TABLE crop; --",
    'quo"te',
    "\\u0027 OR 1=1",
    "a\\U0001x",
    "a\\\\b",
    "dollar $home",
    "percent %s :p",
    "tick`s",
    "new\nline",
    "tab\there",
    "é𝄞",
    "{{x}}",
    "x'); RETURN 1 //",
    "/* c */",
    "q?~^",
)


@cache
def questions() -> QuestionSet:
    """Return a question of every scenario, generated."""
    scenarios = ("locating", "building", "agriculture", "stocks")
    return generate(scenarios, 1, 5, sizes=(LocatingSize(12, 20, 20, 60),))


def hostile_world() -> tuple[Question, Situation]:
    """Return a question about every hostile name, and a world that holds one name more."""
    schema = plugins.scenario("agriculture").schema
    names = (*HOSTILE, "other")
    rows: dict[str, list[tuple[Cell, ...]]] = {
        "report": [("report", "all")],
        "crop": [(name,) for name in names],
        "season": [(2021,)],
        "outlook": [("report", name, "fair") for name in names],
        "harvest": [(name, 2021, 1.0, "TONS / ACRE", 2.0, "$ / TON") for name in names],
    }
    tables = {table.name: Table.from_rows(table, rows[table.name]) for table in schema.tables}
    question = Question("agriculture", "1", "", "", "hostile", candidates=HOSTILE)
    return question, Situation(schema, "hostile", tables)
