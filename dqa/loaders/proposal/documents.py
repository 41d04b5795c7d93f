"""The proposed ``tables.toml`` and ``scenario.toml``, with remarks that say what each part is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dqa.core.display import dump_row
from dqa.core.text import shortened, spelt_out, visible
from dqa.loaders.proposal.choices import Choice
from dqa.loaders.proposal.guesses import GUESS
from dqa.loaders.proposal.surveyed import Survey, SurveyedColumn, SurveyedTable

_COMMENT = 200


def toml_text(text: str) -> str:
    """Return a text as TOML writes one on one line; what acts unseen is spelt out."""

    def spell(sign: str) -> str:
        code = ord(sign)
        if 0xD800 <= code < 0xE000:  # half a character, which TOML cannot hold
            return "\\uFFFD"
        return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"

    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{spelt_out(quoted, spell=spell)}"'


def _list(names: Sequence[str]) -> str:
    return f"[{', '.join(map(toml_text, names))}]"


# --- tables.toml ---


def tables_text(survey: Survey, choice: Choice, *, is_graph: bool) -> str:
    """Return the text of ``tables.toml``."""
    return "\n".join([*_head(survey, choice), *_tables(survey), *_graph(survey, is_graph), ""])


def _head(survey: Survey, choice: Choice) -> Iterator[str]:
    yield "#:schema ./tables.schema.json"
    yield "# The data that the scenario stands on, as 'dqa init' found it. Take out what does not"
    yield "# matter. Several scenarios can share this file: put it beside their folders, and write"
    yield '# include = ["../tables.toml"] in each scenario.toml.'
    yield f"# A line marked '{GUESS}' was not told by the database: check it, take the remark away."
    if survey.left_out:
        names = ", ".join(map(visible, survey.left_out[:10]))
        more = f" and {len(survey.left_out) - 10:,} more" if len(survey.left_out) > 10 else ""
        yield f"# Left out: {names}{more} (dqa init --tables NAMES, or --question TEXT, chooses)."
    yield ""
    if choice.kind is not None and choice.parameter is not None:
        yield "# What a question is about: $name in question.txt and in statements. Its values are"
        yield "# those of a column; --target is completed and checked by them."
        yield f"[parameters.{choice.parameter}]"
        told = f"which {choice.noun} rows can be chosen: by their {visible(choice.kind)}"
        yield f"description = {toml_text(told)}  # {GUESS}"
        yield f"table = {toml_text(choice.table.name)}"
        yield f"column = {toml_text(choice.kind)}"
    else:
        yield "# [parameters.NAME]            # what a question is about: $NAME in question.txt"
        yield '# table = "..."                # the column that has its values'
        yield '# column = "..."'
    yield ""


def _tables(survey: Survey) -> Iterator[str]:
    for table in survey.tables:
        yield from _table(table, survey) if table.ends is None else _edge_table(table, survey)


def _table(table: SurveyedTable, survey: Survey) -> Iterator[str]:
    yield "[[tables]]"
    rows = "" if table.rows is None else f"  # {table.rows:,} rows"
    yield f"name = {toml_text(table.name)}{rows}"
    if table.comment:
        yield f"description = {toml_text(shortened(table.comment, _COMMENT))}"
    mark = f"  # {GUESS}: the database declares no key" if table.key_guessed else ""
    yield f"key = {_list(table.key)}{mark}"
    for join in table.joins:
        there = "" if survey.table(join.table) is not None else ", which is left out"
        pairs = " and ".join(f"{column} -> {join.table}.{other}" for column, other in join.pairs)
        line = visible(f"{pairs}{there}")
        yield f"# {GUESS}: joins {line}, by name and values" if join.guessed else f"# joins: {line}"
    yield "columns = ["
    for column in table.columns:
        yield f"  {_column(column)}"
    yield "]"
    yield ""


def _column(column: SurveyedColumn) -> str:
    parts = [f"name = {toml_text(column.name)}", f'type = "{column.type}"']
    told = shortened(column.comment, _COMMENT)
    if told:  # a model reads a description as fact, so a guessed unit is in the remark alone
        parts.append(f"description = {toml_text(told)}")
    marks = []
    if column.unit:
        marks.append(f"{GUESS}: {column.unit}, by its name; if so, say it in a description")
    if column.samples:
        marks.append(f"e.g. {visible(dump_row(column.samples)[1:-1])}")
    mark = f"  # {'; '.join(marks)}" if marks else ""
    return f"{{ {', '.join(parts)} }},{mark}"


def end_columns(edge: SurveyedTable, survey: Survey) -> tuple[tuple[str, str], tuple[str, str]]:
    """Return what the columns of a relationship's ends are called, with the key of each's label."""
    names = {column.name for column in edge.columns}
    found: list[tuple[str, str]] = []
    for role, label in zip(("source", "target"), edge.ends or (), strict=True):
        node = survey.table(label)
        key = node.key[0] if node is not None else "id"
        name = key
        while name in names:
            name = f"{role}_{name}"
        names.add(name)
        found.append((name, key))
    return found[0], found[1]


def _edge_table(edge: SurveyedTable, survey: Survey) -> Iterator[str]:
    ends = end_columns(edge, survey)
    source, target = edge.ends or ("", "")
    yield "[[tables]]"
    yield f"name = {toml_text(edge.name)}"
    told = f"relationships from {source} to {target}"
    yield f"description = {toml_text(shortened(edge.comment, _COMMENT) or told)}"
    yield f"key = {_list([name for name, _ in ends])}  # {GUESS}: one between two nodes"
    yield "columns = ["
    for (name, key), label in zip(ends, (source, target), strict=True):
        node = survey.table(label)
        kind = "text" if node is None else node.column(key).type
        yield f'  {{ name = {toml_text(name)}, type = "{kind}" }},'
    for column in edge.columns:
        yield f"  {_column(column)}"
    yield "]"
    yield ""


def _graph(survey: Survey, is_graph: bool) -> Iterator[str]:
    if not is_graph:
        yield "# [[nodes]] and [[edges]] say how the rows read as a graph; without one, leave them"
        yield "# out. 'dqa formats scenario_tables' has every field."
        return
    yield "# How the rows above read as nodes and relationships."
    for table in survey.tables:
        yield ""
        if table.ends is None:
            yield "[[nodes]]"
            yield f"label = {toml_text(table.name)}"
            yield f"table = {toml_text(table.name)}"
            mark = f"  # {GUESS}: the database declares no key" if table.key_guessed else ""
            yield f"key = {toml_text(table.key[0])}{mark}"
            yield from _properties("nodes", table)
            continue
        source, target = end_columns(table, survey)
        yield "[[edges]]"
        yield f"label = {toml_text(table.name)}"
        yield f"table = {toml_text(table.name)}"
        yield f"source = {_list([table.ends[0], source[0]])}"
        yield f"target = {_list([table.ends[1], target[0]])}"
        if table.columns:
            yield from _properties("edges", table)


def _properties(part: str, table: SurveyedTable) -> Iterator[str]:
    yield f"[{part}.properties]"
    for column in table.columns:
        yield f"{toml_text(column.name)} = {toml_text(column.name)}"


# --- scenario.toml ---


def scenario_text(choice: Choice, name: str, suffix: str) -> str:
    """Return the text of ``scenario.toml``."""
    scripts: Mapping[str, str] = {
        script: f"dqa.models.scripted.stated:{script}" for script in ("analyst", "greedy", "random")
    }
    kind = "integer" if choice.table.column(choice.column).type == "integer" else "text"
    lines = [
        "#:schema ./scenario.schema.json",
        f"# A decision about your own database. Lines marked '{GUESS}' are to be checked.",
        "# 'dqa doctor --scenario THIS_FOLDER --database URL' says what is wrong, line by line.",
        "",
        f"name = {toml_text(name)}",
        'include = ["tables.toml"]        # the data',
        "",
        f"[candidates]                     # what can be chosen: candidates{suffix} lists it",
        f"noun = {toml_text(choice.noun)}  # {GUESS}: what one of them is called",
        f'type = "{kind}"',
        '# called = ["..."]               # other nouns by which an answer may call one',
        "",
        f"[outcomes]                       # what each leads to: outcomes{suffix} tells it",
        f"unit = {toml_text(choice.measured)}  # {GUESS}",
        f'goal = "{choice.goal}"  # {GUESS}: or "maximise", "minimise"',
        'source = "query"                 # or "formula", with table, key and formula',
        "# baseline = 0.0                 # what deciding nothing leads to",
        "",
        "[scripts]                        # trials without a language model: --model scripted:NAME",
        *(f'{script} = "{where}"' for script, where in scripts.items()),
        "",
        "# [[heuristics]]                 # what one query would guess, to hold scores against:",
        f'# name = "first-guess"           # heuristics/first-guess{suffix}',
        '# description = "..."',
        "",
    ]
    return "\n".join(lines)
