"""Shortening what is too long for a prompt, a piece at a time, in the model's words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import ConfigDict, ValidationInfo, field_validator

from dqa.core.question import Candidate
from dqa.deciders.method import Asking, Reply
from dqa.deciders.prompting import fill_in

_LEAST = 40
"""Fewest characters that a summary is given: no fewer can tell anything."""
_BETWEEN = 2
"""Characters between two summaries."""


@dataclass(frozen=True, slots=True)
class Shortener:
    """Has texts shortened with a goal in mind.

    Attributes
    ----------
    goal, actions
        What the summaries are for.
    asking
        The model.
    """

    goal: str
    actions: tuple[Candidate, ...]
    asking: Asking

    def shorten(self, part: Literal["rules", "rows"], texts: Sequence[str], most: int) -> str:
        """Return summaries of `texts`, quoted, with at most `most` characters together.

        Where there are so many pieces that none could tell anything in its share, their summaries
        are summarised in turn.

        Parameters
        ----------
        part
            What the texts are. Those of rows begin with a header, which stands before each piece.
        texts
            What is too long.
        most
            At least some hundred characters.

        Raises
        ------
        UnparsableReplyError
            No reply shortens a piece.
        InfrastructureError, BudgetSpentError
            As `Asking.ask` raises them.
        """
        pieces = [piece for text in texts for piece in _pieces(text, most, headed=part == "rows")]
        joined = ""
        while pieces:
            even = most // len(pieces) - _BETWEEN
            shares = [max(even, len(piece) // 4, _LEAST) for piece in pieces]
            short = [
                self._summary(part, piece, share)
                for piece, share in zip(pieces, shares, strict=True)
            ]
            joined = _quoted(*short)
            if len(joined) <= most:
                break
            pieces = list(_pieces(joined, most, headed=False))
        return joined

    def _summary(self, part: str, piece: str, most: int) -> str:
        return self.asking.ask(
            "summary",
            Summary,
            context=most,
            label="summary",
            note=False,
            goal=self.goal,
            part=part,
            text=piece,
            actions=self.actions,
            most=most,
        ).summary


class Summary(Reply):
    """A summary of at most as many characters, quoted, as the context says."""

    model_config = ConfigDict(title="summary")

    summary: str

    @field_validator("summary")
    @classmethod
    def _fits(cls, summary: str, info: ValidationInfo) -> str:
        if not summary.strip():
            raise ValueError('The reply has no summary. Write {"summary": "..."}.')
        size, most = len(_quoted(summary.strip())), int(info.context or 0)
        if size > most:
            raise ValueError(
                f"The summary has {size} characters with a mark before each line, and {most} are "
                "the most that can stay. Write a shorter one."
            )
        return summary.strip()


def _quoted(*summaries: str) -> str:
    return fill_in("dqa_dellma", "summaries", summaries=summaries)


def _pieces(text: str, most: int, *, headed: bool) -> Iterator[str]:
    """Cut a text between its lines, with the first one before each part where that is a header.

    Only a line that is longer than a piece is cut itself. What is blank is left out.
    """
    lines = text.split("\n")
    header = [lines.pop(0)] if headed and len(lines[0]) < most // 2 else []
    room = most - sum(len(line) + 1 for line in header)
    piece: list[str] = []
    size = 0
    for line in lines:
        for part in (line[start : start + room] for start in range(0, len(line), room)):
            if not part.strip():
                continue
            if piece and size + len(part) > room:
                yield "\n".join([*header, *piece])
                piece, size = [], 0
            piece.append(part)
            size += len(part) + 1
    if piece:
        yield "\n".join([*header, *piece])
