"""The databases of a release, each distinct content parsed once.

Most files of a release hold what another one holds. So each is compared with those of its size
first, in a buffer that is used again; only what differs from all is decoded and parsed.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path

from dqa.core.errors import ParseError
from dqa.core.files import open_regular
from dqa.core.question_set import Defect
from dqa.core.situation import Schema, Situation
from dqa.loaders.release_layout import FORMS, Form


@dataclass
class ReleaseDatabase:
    """What one distinct file content came to, and the files that have it."""

    situation: Situation
    defects: tuple[Defect, ...]
    files: list[Path]


@dataclass
class _Alike:
    """What was read of one scenario's files of one size, and room for the next of them."""

    known: list[tuple[bytes, ReleaseDatabase]] = field(default_factory=list)
    buffer: bytearray = field(default_factory=bytearray)

    def take(self, stream: FileIO, size: int) -> bytes | bytearray:
        """Return a file's content; where there is something to compare it with, in the buffer."""
        if not self.known:
            return stream.read()
        self.buffer = self.buffer or bytearray(size)
        read = stream.readinto(self.buffer)
        return self.buffer if read == size else self.buffer[:read]


@dataclass
class ReleaseDatabases:
    """The databases of a release that were read so far.

    Attributes
    ----------
    folder
        The release.
    form
        Which of the files of each database are read.
    strict
        Whether a defect of a database is an error.
    found
        One for each distinct content, in the order in which they were read.
    """

    folder: Path
    form: Form
    strict: bool = False
    found: list[ReleaseDatabase] = field(default_factory=list)
    _by_file: dict[Path, ReleaseDatabase] = field(default_factory=dict)
    _by_size: dict[tuple[str, int], _Alike] = field(default_factory=dict)
    _by_rows: dict[tuple[str | int, ...], list[Situation]] = field(default_factory=dict)

    def read(self, file: Path, schema: Schema) -> Situation:
        """Return the situation that a file holds; those of equal content are one object.

        Raises
        ------
        ParseError
            It is missing, cannot be parsed, or, under `strict`, has a defect.
        """
        database = self._by_file.get(file)
        if database is None:
            database = self._by_file[file] = self._compared(file, schema)
            database.files.append(file)
        return database.situation

    def _compared(self, file: Path, schema: Schema) -> ReleaseDatabase:
        try:
            # Unbuffered: one read into one object, a third of the time of the buffered way.
            with open_regular(file, home=self.folder) as stream:
                size = os.fstat(stream.fileno()).st_size
                alike = self._by_size.setdefault((schema.scenario, size), _Alike())
                content = alike.take(stream, size)
        except OSError as error:
            raise ParseError(
                file, None, f"a question names this database, but: {error.strerror}"
            ) from error
        for known, database in alike.known:
            if content == known:
                return database
        database = self._parsed(bytes(content), file, schema)
        alike.known.append((bytes(content), database))
        self.found.append(database)
        return database

    def _parsed(self, content: bytes, file: Path, schema: Schema) -> ReleaseDatabase:
        parsed = FORMS[self.form].parse(_decoded(content, file), schema, file)
        if self.strict and parsed.defects:
            raise refusal(parsed.defects[0])
        situation = parsed.situation
        rows: tuple[str | int, ...] = (schema.scenario, *map(len, situation.tables.values()))
        # The forms and spellings of one content differ, so equal bytes are not enough.
        alike = self._by_rows.setdefault(rows, [])
        if situation not in alike:
            alike.append(situation)
        return ReleaseDatabase(alike[alike.index(situation)], parsed.defects, [])


def refusal(defect: Defect) -> ParseError:
    """Return what is raised at a defect under ``strict``."""
    told = f"{defect.problem} (without strict: {defect.action})"
    return ParseError(defect.file, defect.line, told)


def _decoded(content: bytes, file: Path) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ParseError(file, line, f"this is no UTF-8 text: {error.reason}") from error
