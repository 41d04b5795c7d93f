"""Proposing a scenario's folder from a live database, as a beginning for one's own."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path
from shlex import quote
from typing import Unpack

from dqa.api.databases import Access, opened
from dqa.api.listing import json_schema
from dqa.core.database import Database
from dqa.core.errors import UsageError
from dqa.core.files import make_private_folder, problem_of_path, write_private
from dqa.core.records import Record
from dqa.core.text import counted, visible
from dqa.loaders.proposal.choices import choose
from dqa.loaders.proposal.documents import render_scenario
from dqa.loaders.proposal.guesses import GUESS, guess_lines
from dqa.loaders.proposal.survey import Surveyor
from dqa.scenarios.catalogue import scenario_names

_SCHEMAS = {"scenario.schema.json": "scenario", "tables.schema.json": "scenario_tables"}


class ProposedScenario(Record):
    """A scenario's folder that was proposed.

    Attributes
    ----------
    folder, files
        Where it is, and what it holds.
    scenario
        What the scenario is called.
    tables, left_out
        What of the database is described, and what is not.
    noun, table, column
        What can be chosen: the values of a column.
    parameters, example
        What a question is about, and a value that the database has for it.
    guesses
        How many lines are marked as guesses.
    """

    folder: str
    files: tuple[str, ...]
    scenario: str
    tables: tuple[str, ...]
    left_out: tuple[str, ...]
    noun: str
    table: str
    column: str
    parameters: tuple[str, ...]
    example: dict[str, str]
    guesses: int

    def to_text(self) -> str:
        """Return what was written, and what to do next."""
        left = f", {len(self.left_out):,} left out" if self.left_out else ""
        values = {key: self.example.get(key, "...") for key in self.parameters}
        target = "".join(f" --target {quote(f'{key}={value}')}" for key, value in values.items())
        described = f"{counted(len(self.tables), 'table')} described{left}"
        guessed = counted(self.guesses, "line is a guess", "lines are guesses")
        fix = "and write rules.md and outcomes.* for what you decide about"
        return "\n".join(
            [
                f"{self.folder}: {', '.join(self.files)}.",
                f"It decides about each {self.noun} ({self.table}.{self.column}); {described}.",
                f"{guessed}: look for '{GUESS}', {fix}.",
                f"Then write confirmed = true into {self.folder}/scenario.toml.",
                f"Next: dqa doctor --scenario {self.folder} --database URL",
                f"Then: dqa ask --scenario {self.folder} --database URL{target}",
            ]
        )


def propose_scenario(
    database: str | Path | Database,
    folder: str | Path | None = None,
    *,
    question: str = "",
    **access: Unpack[Access],
) -> ProposedScenario:
    """Write a folder that is a scenario of a database: a beginning, whose guesses are marked.

    Its statements run as they are. What a policy hides is in none of its files, nor is the URL.

    Parameters
    ----------
    database
        A URL, files, or an open database.
    folder
        The new folder; by default one in the current folder, named after what can be chosen.
    question
        What is to be decided, in words: selects tables, and is the scenario's question.
    **access
        ``tables``, ``policy`` and ``audit``, as in `open_database`, for a location. Without tables
        the dozen likeliest by the question, or by their joins, are described.

    Raises
    ------
    UsageError
        The folder exists and is not empty, or the database has nothing to choose from.
    InfrastructureError
        The database failed.
    """
    if folder is not None:
        _require_empty(Path(folder))
    with opened(database, **access) as there:
        surveyor = Surveyor(there)
        survey = surveyor.survey(question, every=bool(access.get("tables")))
        choice = choose(survey, surveyor, question)
        place = Path(folder) if folder is not None else Path(f"choose-{_slug(choice.noun)}")
        _require_empty(place)
        name = _slug(place.name) if place.name else f"choose-{_slug(choice.noun)}"
        name = f"own-{name}" if name in scenario_names() else name
        texts = render_scenario(survey, choice, surveyor, name, question)
    schemas = {
        file: json.dumps(json_schema(kind), indent=2, ensure_ascii=False) + "\n"
        for file, kind in _SCHEMAS.items()
    }
    try:
        make_private_folder(place)
        for file, text in {**texts, **schemas}.items():
            write_private(place / file, text)
    except OSError as error:
        raise UsageError(f"{problem_of_path(place, error)}.") from error
    example = {}
    if choice.parameter is not None and choice.example is not None:
        example[choice.parameter] = visible(choice.example)
    return ProposedScenario(
        folder=str(place),
        files=(*texts, *schemas),
        scenario=name,
        tables=tuple(table.name for table in survey.tables),
        left_out=survey.left_out,
        noun=choice.noun,
        table=choice.table.name,
        column=choice.column,
        parameters=() if choice.parameter is None else (choice.parameter,),
        example=example,
        guesses=sum(len(guess_lines(text.split("\n"))) for text in texts.values()),
    )


def _require_empty(folder: Path) -> None:
    try:
        is_taken = folder.is_dir() and any(folder.iterdir())
    except OSError as error:
        raise UsageError(f"{problem_of_path(folder, error)}.") from error
    if is_taken or (folder.exists() and not folder.is_dir()):
        raise UsageError(
            f"{folder} is there already, and nothing is written over: name another folder (--out)."
        )


def _slug(text: str) -> str:
    """Return a text as a plain name: letters of ASCII, digits and hyphens."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
    return slug if slug[:1].isalpha() else f"decision-{slug}".strip("-")
