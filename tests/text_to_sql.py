"""A small text-to-SQL set in the folder forms of BIRD and Spider."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from tests.sqlite_files import run_script

_SCRIPTS = {
    "harbour": """
        CREATE TABLE berth (id INTEGER PRIMARY KEY, quay TEXT NOT NULL, depth REAL);
        CREATE TABLE ship (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL, flag TEXT, draught REAL, built INTEGER
        );
        CREATE TABLE call (
            ship INTEGER REFERENCES ship(id), berth INTEGER REFERENCES berth(id),
            day TEXT, tonnes INTEGER
        );
        INSERT INTO berth VALUES (1, 'North', 12.5), (2, 'North', 9.0), (3, 'South', NULL);
        INSERT INTO ship VALUES
            (1, 'Alma', 'NO', 8.2, 1998), (2, 'Brisa', 'ES', 11.0, 2011),
            (3, 'Calla', 'NO', 6.4, 2020), (4, 'Dorada', NULL, 9.9, 1985);
        INSERT INTO call VALUES
            (1, 1, '2031-02-01', 400), (1, 2, '2031-02-09', 150), (2, 1, '2031-02-03', 900),
            (3, 3, '2031-03-01', 150), (3, 2, '2031-03-04', 275);
    """,
    "choir": """
        CREATE TABLE singer (id INTEGER PRIMARY KEY, name TEXT, voice TEXT, joined INTEGER);
        CREATE TABLE concert (id INTEGER PRIMARY KEY, town TEXT, seats INTEGER, sold INTEGER);
        CREATE TABLE solo (singer INTEGER, concert INTEGER, minutes REAL);
        INSERT INTO singer VALUES
            (1, 'Edda', 'alto', 2019), (2, 'Falk', 'bass', 2015), (3, 'Gesa', 'alto', 2022),
            (4, 'Hugo', 'tenor', 2015);
        INSERT INTO concert VALUES
            (1, 'Moss', 200, 180), (2, 'Lund', 350, 350), (3, 'Moss', 90, 12);
        INSERT INTO solo VALUES (1, 1, 3.5), (1, 2, 4.0), (3, 2, 2.5), (4, 3, 6.25);
    """,
}


@dataclass(frozen=True)
class Asked:
    """A question of the set, with its gold statement."""

    database: str
    text: str
    gold: str
    hints: str = ""
    difficulty: str = "simple"


QUESTIONS = (
    Asked(
        "harbour", "Which ships sail under the flag NO?", "SELECT name FROM ship WHERE flag = 'NO'"
    ),
    Asked("harbour", "How many calls were made in total?", "SELECT COUNT(*) FROM call"),
    Asked(
        *("harbour", "What did each ship bring altogether, the most first?"),
        "SELECT s.name, SUM(c.tonnes) FROM ship s JOIN call c ON c.ship = s.id "
        "GROUP BY s.id ORDER BY SUM(c.tonnes) DESC",
        difficulty="moderate",
    ),
    Asked(
        *("harbour", "Which ships never called?"),
        "SELECT name FROM ship WHERE id NOT IN (SELECT ship FROM call)",
        "a call is a row of the table call",
        "moderate",
    ),
    Asked(
        *("harbour", "Which berths are too shallow for the Brisa?"),
        "SELECT b.id FROM berth b, ship s WHERE s.name = 'Brisa' AND b.depth < s.draught",
        "a berth is too shallow where its depth is below the draught",
        "challenging",
    ),
    Asked("harbour", "How deep is each quay's berth?", "SELECT quay, depth FROM berth"),
    Asked("choir", "Who sings alto?", "SELECT name FROM singer WHERE voice = 'alto'"),
    Asked("choir", "In which towns were concerts given?", "SELECT DISTINCT town FROM concert"),
    Asked(
        *("choir", "Which share of its seats did each concert sell?"),
        "SELECT id, 1.0 * sold / seats FROM concert",
        "the share is sold divided by seats",
        "moderate",
    ),
    Asked(
        *("choir", "Who has sung the longest solo?"),
        "SELECT name FROM singer JOIN solo ON singer = id ORDER BY minutes DESC LIMIT 1",
        difficulty="moderate",
    ),
    Asked(
        *("choir", "Which voices joined in the year that most singers joined in?"),
        "SELECT voice FROM singer WHERE joined = (SELECT joined FROM singer "
        "GROUP BY joined ORDER BY COUNT(*) DESC LIMIT 1)",
        difficulty="challenging",
    ),
    Asked(
        "choir",
        "How many singers have no solo?",
        "SELECT COUNT(*) FROM singer WHERE id NOT IN (SELECT singer FROM solo)",
    ),
)


def gold_of(text: str) -> str:
    """Return the gold statement of the question that a text contains."""
    return next(asked.gold for asked in QUESTIONS if asked.text in text)


def bird_entries() -> list[dict[str, object]]:
    """Return the questions in the form of BIRD's ``dev.json``."""
    return [
        {
            "question_id": number,
            "db_id": asked.database,
            "question": asked.text,
            "evidence": asked.hints,
            "SQL": asked.gold,
            "difficulty": asked.difficulty,
        }
        for number, asked in enumerate(QUESTIONS)
    ]


def spider_entries() -> list[dict[str, object]]:
    """Return the questions in the form of Spider's ``dev.json``."""
    return [
        {
            "db_id": asked.database,
            "query": asked.gold,
            "query_toks": asked.gold.split(),
            "question": asked.text,
        }
        for asked in QUESTIONS
    ]


def write_bird(folder: Path, entries: object = None) -> Path:
    """Write the set into a new folder in BIRD's form."""
    names = ("dev_databases", "dev_tables.json", "dev.sql")
    return _write(folder, bird_entries() if entries is None else entries, *names)


def write_spider(folder: Path, entries: object = None) -> Path:
    """Write the set into a new folder in Spider's form."""
    names = ("database", "tables.json", "dev_gold.sql")
    return _write(folder, spider_entries() if entries is None else entries, *names)


def _write(folder: Path, entries: object, databases: str, tables: str, gold: str) -> Path:
    """Write the entries, and the files with these names."""
    _write_databases(folder / databases)
    _write_json(folder / "dev.json", entries)
    _write_json(folder / tables, [])
    lines = [f"{asked.gold}\t{asked.database}\n" for asked in QUESTIONS]
    (folder / gold).write_text("".join(lines), "utf-8")
    return folder


def _write_databases(folder: Path) -> None:
    for name, script in _SCRIPTS.items():
        (folder / name).mkdir(parents=True)
        run_script(folder / name / f"{name}.sqlite", script)


def _write_json(file: Path, value: object) -> None:
    file.write_text(json.dumps(value, indent=1), "utf-8")
