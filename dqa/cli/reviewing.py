"""Asking the person at a terminal: approve, edit, reject or quit."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from dqa.cli.completion import one_of
from dqa.cli.help import MODELS
from dqa.cli.options import names_in, option
from dqa.core.errors import UsageError
from dqa.core.provenance import user_name
from dqa.core.review import Review, ReviewAnswer, review_kinds
from dqa.core.text import visible, visible_lines

if TYPE_CHECKING:
    from rich.console import Console

    from dqa.cli.steps import Steps
    from dqa.core.events import ReviewKind

_CHOICES = "[a]pprove, [e]dit, [r]eject with a reason, [q]uit: "
_EDITORS = ("VISUAL", "EDITOR")


@dataclass(frozen=True, slots=True)
class ReviewOptions:
    """Reviews on the terminal, and the reviewer.

    Attributes
    ----------
    approve
        Ask here before it counts: plan, statement (each that a model writes, before it runs),
        decision; several separated by commas.
    approved_by
        The reviewer's name in the record; by default the name of this login.
    """

    approve: Annotated[
        str | None,
        option("--approve KINDS", MODELS, complete=one_of(("plan", "statement", "decision"))),
    ] = None
    approved_by: Annotated[str | None, option("--approved-by NAME", MODELS)] = None

    @property
    def kinds(self) -> tuple[ReviewKind, ...]:
        """The kinds of reviews."""
        return () if self.approve is None else review_kinds(names_in("--approve", self.approve))

    def reviewer(self) -> TerminalReviewer | None:
        """Return the reviewer; None if nothing is reviewed.

        Raises
        ------
        UsageError
            Standard input or standard error is not a terminal.
        """
        if not self.kinds:
            if self.approved_by is not None:
                raise UsageError("--approved-by names who approves: say what, with --approve.")
            return None
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise UsageError(
                "--approve asks on a terminal, and standard input or standard error is none here. "
                "Leave it out, or give a reviewer in Python (dqa.ask)."
            )
        return TerminalReviewer(self.approved_by or user_name())


class TerminalReviewer:
    """Shows a review on stderr, and reads the answer.

    Parameters
    ----------
    by
        The name of the person in the record.

    Attributes
    ----------
    steps
        What else writes to the terminal meanwhile; it is silent while a person is asked.
    was_interrupted
        Whether the person answered with Ctrl-C, which ends the run.
    """

    def __init__(self, by: str) -> None:
        self._by = by
        self.steps: Steps | None = None
        self.was_interrupted = False

    def __call__(self, review: Review) -> ReviewAnswer:
        """Ask; Ctrl-C and the end of the input end the run."""
        if self.steps is None:
            return self._asked(review)
        with self.steps.paused():
            return self._asked(review)

    def _asked(self, review: Review) -> ReviewAnswer:
        try:
            from rich.console import Console

            console = Console(stderr=True, highlight=False)
            _show(console, review)
            while True:
                answer = self._answer(console, review, _line(console, _CHOICES))
                if answer is not None:
                    return answer
        except KeyboardInterrupt:
            self.was_interrupted = True
            return ReviewAnswer(action="end", reason="interrupted", by=self._by)

    def _answer(self, console: Console, review: Review, word: str | None) -> ReviewAnswer | None:
        """Return the answer that a word begins; None where it begins none."""
        # Whole words: who types "abort" approves nothing.
        match None if word is None else word.strip().lower():
            case None | "q" | "quit":
                return ReviewAnswer(action="end", by=self._by)
            case "a" | "approve" | "y" | "yes":
                return ReviewAnswer(action="approve", by=self._by)
            case "r" | "reject" | "n" | "no":
                reason = _line(console, "Why? The model reads it (Enter for no reason): ") or ""
                return ReviewAnswer(action="refuse", reason=reason.strip(), by=self._by)
            case "e" | "edit":
                text = _edited(console, review)
                if text.strip() and text.strip() != review.text.strip():
                    return ReviewAnswer(action="correct", text=text.strip(), by=self._by)
                console.print("Nothing was changed.")
        return None


def _show(console: Console, review: Review) -> None:
    from rich.syntax import Syntax
    from rich.text import Text

    where = f" on {review.database}, {review.language}" if review.kind == "statement" else ""
    console.print(Text(visible(f"Step {review.step}: {review.kind}{where}"), style="bold"))
    if review.thought:
        console.print(Text(visible_lines(f"Thought: {review.thought.strip()}"), style="dim"))
    shown = visible_lines(review.text.strip())
    if review.kind == "statement":
        lexer = "cypher" if review.language.startswith("Cypher") else "sql"
        console.print(
            Syntax(shown, lexer, theme="ansi_dark", background_color="default", word_wrap=True)
        )
    else:
        console.print(Text(shown))
    if review.verdict:
        console.print(Text(visible(review.verdict), style="dim"))
    if review.problem:
        problem = f"Your correction cannot be used. {review.problem}"
        console.print(Text(visible_lines(problem), style="red"))


def _line(console: Console, prompt: str) -> str | None:
    """Return the line that the person types; None at the end of the input."""
    console.print(prompt, end="", markup=False)
    line = sys.stdin.readline()
    if not line:
        console.print()
    return line.rstrip("\n") if line else None


def _edited(console: Console, review: Review) -> str:
    """Return the person's edit of a text, in an editor or line by line; may be empty."""
    editor = next(filter(None, map(os.environ.get, _EDITORS)), None)
    if editor is None:
        return _typed(console)
    suffix = ".txt" if review.kind != "statement" else ".sql"
    with tempfile.TemporaryDirectory(prefix="dqa-") as folder:  # which is its owner's alone
        file = Path(folder, f"{review.kind}{suffix}")
        file.write_text(review.text, "utf-8")
        try:
            subprocess.run([*shlex.split(editor), str(file)], check=True)  # noqa: S603  (the user's)
            return file.read_text("utf-8")
        except (OSError, ValueError, subprocess.CalledProcessError) as error:
            problem = f"{' or '.join(_EDITORS)} names no editor that works ({error})."
            console.print(visible(problem), markup=False)
            return _typed(console)


def _typed(console: Console) -> str:
    console.print("Write it anew; an empty line ends it.")
    lines: list[str] = []
    while line := _line(console, "> "):
        lines.append(line)
    return "\n".join(lines)
