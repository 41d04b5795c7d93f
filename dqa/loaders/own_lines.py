"""Lines of a user's own questions as they were written, each with the place that errors name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dqa.core.errors import DataError, DqaError, ParseError, UnknownNameError, UsageError
from dqa.core.files import parse_json_of, read_text
from dqa.core.question import Candidate
from dqa.loaders.own_question import OwnQuestion, RulesFile


class WrittenLine(NamedTuple):
    """A question as it was written, and where.

    `wrong` makes the error that says where something is wrong; `folder` is that of the file, None
    of a list.
    """

    told: OwnQuestion
    id: str
    wrong: Callable[[str], DqaError]
    folder: Path | None


def lines_of_file(file: Path, scenario: str | None) -> Iterator[WrittenLine]:
    """Yield the lines of a file that are not empty; what is wrong names file and line."""
    text = read_text(file)
    # Not splitlines(): other line separators may stand inside a JSON string.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue

        def wrong(problem: str, number: int = number) -> DqaError:
            return ParseError(file, number, problem)

        written = parse_json_of(file, line, number)
        yield _line(_of(written, scenario), str(number), wrong, file.parent)


def _of(written: object, scenario: str | None) -> object:
    """Return a line with the scenario that all those ask which name none."""
    if scenario is None or not isinstance(written, dict):
        return written
    return {"scenario": scenario, **written}


def lines_of_list(
    given: Iterable[Mapping[str, Any] | OwnQuestion], scenario: str | None
) -> Iterator[WrittenLine]:
    """Yield the questions of a list; what is wrong names the place in it."""
    for number, one in enumerate(given, start=1):

        def wrong(problem: str, number: int = number) -> DqaError:
            return UsageError(f"Question {number} of the list: {problem}")

        if isinstance(one, OwnQuestion):
            yield WrittenLine(one, one.id or str(number), wrong, None)
        else:
            yield _line(_of(dict(one), scenario), str(number), wrong, None)


def _line(
    written: object, number: str, wrong: Callable[[str], DqaError], folder: Path | None
) -> WrittenLine:
    try:
        told = OwnQuestion.checked(written)
    except ValueError as error:
        raise wrong(str(error)) from error
    return WrittenLine(told, told.id or number, wrong, folder)


def refuse_twice(lines: Sequence[WrittenLine]) -> None:
    """Refuse lines with the id of another one."""
    first: dict[str, str] = {}
    for position, line in enumerate(lines, start=1):
        if line.id in first:
            raise line.wrong(
                f"id: '{line.id}' is that of question {first[line.id]}, too (a line without an id "
                "has its number): give each another"
            )
        first[line.id] = str(position)


def rules_of(line: WrittenLine) -> str:
    """Return a line's rules, which may be a file in the folder of the questions."""
    rules = line.told.rules
    if not isinstance(rules, RulesFile):
        return rules
    if line.folder is None:
        raise line.wrong("rules: a list of questions lies in no folder: give the rules as a text")
    home = line.folder.resolve()
    file = (home / rules.file).resolve()
    if not file.is_relative_to(home):
        raise line.wrong(
            f"rules: {rules.file} lies outside the folder of the questions, {home}: put it there"
        )
    try:
        return read_text(file, home=home)
    except DataError as error:
        raise line.wrong(f"rules: {error}") from error


def answers_of(
    line: WrittenLine, candidates: tuple[Candidate, ...] | None
) -> tuple[Candidate, ...]:
    """Return what is right, spelled as the candidates are."""
    if candidates is None:
        return line.told.answer
    spelled = {str(candidate).strip(): candidate for candidate in candidates}
    found: list[Candidate] = []
    for answer in line.told.answer:
        if answer not in candidates and str(answer).strip() not in spelled:
            raise line.wrong(
                f"answer: {UnknownNameError('candidate', str(answer), map(str, candidates))}"
            )
        found.append(answer if answer in candidates else spelled[str(answer).strip()])
    return tuple(dict.fromkeys(found))
