"""Generate an enterprise schema with thousands of tables, and questions with known tables.

A seed decides the schema. Each module has a style of names: whole words (``sales_order_line``),
abbreviations (``sal_ord_lin``), camel case, or numbers (``t0412``). Tables with abbreviations and
numbers can only be found by comments and foreign keys. One table in ten and half of the columns
have no comment.

A question is easy if it uses the words of a table's name, and harder if it uses words of the
comment, possibly in the plural. Four things make a question hard:

- Its words are not in the table's comment.
- The thing exists in several modules, such as six kinds of orders.
- It needs a table that it does not mention, such as the lines between an order and its product.
- Half of all tables refer to the same hubs.

Each live table has about two copies with the same words: archives, staging tables and extracts. No
question needs a copy.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Literal, TypeAlias

from sqlalchemy import Column, Date, ForeignKeyConstraint, Integer, MetaData, Numeric, String, Table
from sqlalchemy.dialects import registry
from sqlalchemy.schema import CreateTable, SetColumnComment, SetTableComment

from dqa.core.schema import DatabaseSchema, Field, TableInfo

VOCABULARY = tomllib.loads(Path(__file__).with_name("wide_vocabulary.toml").read_text("utf-8"))

Style: TypeAlias = Literal["words", "short", "camel", "numbers"]
Wording: TypeAlias = Literal["name", "comment", "any"]
"""The source of a question's words: the table's name, its comment, or any known word."""

LEAST_TABLES = 400
"""The minimum number of tables, which allows one thing per module."""
_WORDINGS: Sequence[Wording] = ("name", "comment", "any")
_STYLES: Sequence[Style] = ("words", "words", "short", "short", "camel", "numbers")
_PER_LIVE = 3.2
"""The number of tables per live table: the table and its copies."""
_TYPES: Mapping[str, Any] = {
    "INTEGER": Integer(),
    "VARCHAR(40)": String(40),
    "DECIMAL(12, 2)": Numeric(12, 2),
    "DATE": Date(),
}


@dataclass(frozen=True, slots=True)
class Thing:
    """An entry of the vocabulary: names, things that it refers to, and words that people use."""

    name: str
    short: str
    refers: tuple[str, ...]
    said: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AskedTables:
    """A question, the tables that its decision needs, and the source of its words."""

    text: str
    needed: tuple[str, ...]
    wording: Wording


@dataclass(slots=True)
class _Entity:
    thing: Thing
    module: str
    style: Style
    comment_words: tuple[str, ...]
    table: str = ""
    parts: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WideSchema:
    """A schema with many tables, and questions about it."""

    schema: DatabaseSchema
    questions: tuple[AskedTables, ...]


def make_wide_schema(tables: int = 5_000, questions: int = 200, seed: int = 7) -> WideSchema:
    """Return a schema with a number of tables, and a number of questions about it."""
    if tables < LEAST_TABLES:
        raise ValueError(f"tables must be {LEAST_TABLES} or more, not {tables}")
    made = _Maker(Random(seed), tables)  # noqa: S311
    made.make()
    asked = tuple(made.ask(number) for number in range(questions))
    order = list(made.tables.values())
    made.random.shuffle(order)
    return WideSchema(DatabaseSchema(tuple(order)), asked)


def _things(text: str, *, refers: bool) -> tuple[Thing, ...]:
    found = []
    for line in text.strip().splitlines():
        parts = [part.strip() for part in line.split("|")]
        others = tuple(name.strip() for name in parts[2].split(",") if name) if refers else ()
        said = parts[3].split(";") if refers else [parts[2], *parts[3].split(";")]
        found.append(Thing(parts[0], parts[1], others, tuple(word.strip() for word in said)))
    return tuple(found)


class _Maker:
    def __init__(self, random: Random, count: int) -> None:
        self.random, self._count = random, count
        self.tables: dict[str, TableInfo] = {}
        self._names: set[str] = set()
        self._kinds = _things(VOCABULARY["kinds"], refers=False)
        self._attributes = _things(VOCABULARY["attributes"], refers=False)
        self._masters: dict[str, _Entity] = {}

    def make(self) -> None:
        """Create all tables: hubs, master data, the tables of the modules, and copies."""
        for hub in ("org_unit", "app_user", "currency"):
            self._add(hub, [], "", hub.replace("_", " "))
        for thing in _things(VOCABULARY["masters"], refers=True):
            self._masters[thing.name] = self._make_entity(thing, "master", "words")
        chosen = self._chosen(int(self._count / _PER_LIVE) - len(self.tables))
        styles = {module: self.random.choice(_STYLES) for module in VOCABULARY["modules"]}
        self._entities = [self._make_entity(one, module, styles[module]) for module, one in chosen]
        live = list(self.tables.values())
        while len(self.tables) < self._count:
            self._copy(self.random.choice(live))

    def _chosen(self, room: int) -> list[tuple[str, Thing]]:
        """Return things of all modules, as many as the number of tables allows."""
        by_module = {
            name: _things(text, refers=True) for name, text in VOCABULARY["modules"].items()
        }
        deepest = max(map(len, by_module.values()))
        found = [
            (module, things[place])
            for place in range(deepest)
            for module, things in by_module.items()
            if place < len(things)
        ]
        return found[: max(room // (len(self._kinds) + 1), len(by_module))]

    def _make_entity(self, thing: Thing, module: str, style: Style) -> _Entity:
        """Add the main table of a thing, and a table for each kind of part."""
        random = self.random
        entity = _Entity(thing, module, style, tuple(random.sample(thing.said, 2)))
        links = [self._masters[name].table for name in thing.refers if name in self._masters]
        main = self._name(entity, ())
        entity.table = self._add(
            main, [one for one in links if one], entity.style, self._comment(entity)
        )
        for kind in self._kinds:
            others = [entity.table]
            if kind.name == "line" and "product" in self._masters:
                others.append(self._masters["product"].table)
            if kind.name in {"assignment", "approval"} and "employee" in self._masters:
                others.append(self._masters["employee"].table)
            said = f"{random.choice(thing.said)}: {kind.said[0]}"
            if entity.style != "numbers" and random.random() < 0.1:
                said = ""
            name = self._name(entity, (kind.name, kind.short))
            others = [one for one in dict.fromkeys(others) if one]
            entity.parts[kind.name] = self._add(name, others, entity.style, said)
        return entity

    def _comment(self, entity: _Entity) -> str:
        if entity.style != "numbers" and self.random.random() < 0.1:
            return ""
        first, second = entity.comment_words
        form = self.random.choice(("{0} ({1})", "{0}, also {1}", "Keeps each {0}; {1}"))
        text = form.format(first, second)
        return text[0].upper() + text[1:]

    def _name(self, entity: _Entity, kind: tuple[str, ...]) -> str:
        """Return the name of a new table in the style of its module."""
        thing = entity.thing
        own = entity.module == "master"
        if entity.style == "numbers":
            return self._once(f"t{self.random.randrange(10_000):04}")
        if entity.style == "short":
            parts = [entity.module[:3], thing.short, *kind[1:]]
        else:
            parts = [*([] if own else [entity.module]), thing.name, *kind[:1]]
        if entity.style == "camel":
            words = "_".join(parts).split("_")
            return self._once("".join(word.capitalize() for word in words))
        return self._once("_".join(parts))

    def _once(self, name: str) -> str:
        number, tried = 1, name
        while tried.casefold() in self._names:
            number += 1
            tried = f"{name}_{number}"
        self._names.add(tried.casefold())
        return tried

    def _add(self, name: str, links: Sequence[str], style: Style | str, comment: str) -> str:
        random = self.random
        self._names.add(name.casefold())
        columns = [Field("id", "INTEGER")]
        references = []
        for other in links:
            column = f"{other}_id"
            columns.append(Field(column, "INTEGER"))
            references.append((column, other, "id"))
        for attribute in random.sample(self._attributes, random.randint(4, 10)):
            called = attribute.short if style in {"short", "numbers"} else attribute.name
            said = attribute.said[0] if random.random() < 0.5 else ""
            columns.append(Field(called, random.choice(tuple(_TYPES)), (), said))
        for hub, share in (("org_unit", 0.5), ("app_user", 0.4), ("currency", 0.2)):
            if hub in self.tables and random.random() < share:
                columns.append(Field(f"{hub}_id", "INTEGER"))
                references.append((f"{hub}_id", hub, "id"))
        columns.append(Field("created_at", "DATE"))
        self.tables[name] = TableInfo(name, tuple(columns), ("id",), tuple(references), comment)
        return name

    def _copy(self, table: TableInfo) -> None:
        """Add a copy with the same columns, and sometimes with the foreign keys."""
        end, said = self.random.choice(tuple(VOCABULARY["copies"].items()))
        name = self._once(f"{table.name}_{end}")
        comment = f"{said}: {table.comment}" if said and table.comment else table.comment
        linked = self.random.random() < 0.3
        self.tables[name] = TableInfo(
            name, table.columns, table.key, table.references if linked else (), comment
        )

    def ask(self, number: int) -> AskedTables:
        """Return a question about a thing and one of its parts, its master, or its products."""
        random = self.random
        wording: Wording = _WORDINGS[number % 3]
        entity = random.choice(self._entities)
        masters = [self._masters[name] for name in entity.thing.refers if name in self._masters]
        needed = [entity.table]
        shape = random.randrange(3 if masters else 1)
        thing = self._word_for(entity, wording)
        module = entity.module if wording == "name" or random.random() < 0.5 else ""
        where = f" in {module}" if module else ""
        if shape == 1:
            master = random.choice(masters)
            needed.append(master.table)
            text = (
                f"Which {self._word_for(master, wording)} should we keep{where}, for each {thing}"
            )
        elif shape == 2 and "product" in self._masters:
            # The question does not mention the lines in between.
            product = self._masters["product"]
            needed += [entity.parts["line"], product.table]
            text = f"Which {self._word_for(product, wording)} matters most among all {thing}{where}"
        else:
            kind = random.choice(self._kinds)
            needed.append(entity.parts[kind.name])
            asked = {"name": kind.name.replace("_", " "), "comment": kind.said[0]}
            part = asked.get(wording, random.choice(kind.said[1:]))
            text = f"Which {thing}{where} should be handled first, by {part}"
        attribute = random.choice(self._attributes)
        text += f", with regard to {random.choice(attribute.said)}?"
        return AskedTables(text, tuple(dict.fromkeys(needed)), wording)

    def _word_for(self, entity: _Entity, wording: Wording) -> str:
        """Return a random word for a thing, half of the time in the plural."""
        thing = entity.thing
        choices: Mapping[Wording, Sequence[str]] = {
            # Numbers have no meaning, so people use the words of the comment.
            "name": entity.comment_words
            if entity.style == "numbers"
            else (thing.name.replace("_", " "),),
            "comment": entity.comment_words,
            "any": thing.said,
        }
        said = self.random.choice(choices[wording])
        return _plural(said) if self.random.random() < 0.5 else said


def _plural(words: str) -> str:
    """Return the plural of a noun if it ends in ``s`` or ``ies``; otherwise return the noun."""
    if " " in words or words.endswith(("s", "ing", "ory", "age")):
        return words
    if words.endswith("y") and words[-2] not in "aeiou":
        return f"{words[:-1]}ies"
    return f"{words}s"


def statements(schema: DatabaseSchema, dialect: str) -> Iterator[str]:
    """Yield the statements that create the tables in a dialect of SQL, with comments and keys."""
    metadata, speaks = MetaData(), registry.load(dialect)()
    for table in schema.tables:
        columns: list[Column[Any]] = [
            Column(
                column.name,
                _TYPES[column.type],
                primary_key=column.name in table.key,
                autoincrement=False,
                comment=column.comment or None,
            )
            for column in table.columns
        ]
        keys = [
            ForeignKeyConstraint([name], [f"{other}.{key}"])
            for name, other, key in table.references
        ]
        Table(table.name, metadata, *columns, *keys, comment=table.comment or None)
    for made in metadata.sorted_tables:
        yield str(CreateTable(made).compile(dialect=speaks))
        if speaks.supports_comments and not speaks.inline_comments:
            if made.comment:
                yield str(SetTableComment(made).compile(dialect=speaks))
            for commented in (column for column in made.columns if column.comment):
                yield str(SetColumnComment(commented).compile(dialect=speaks))
