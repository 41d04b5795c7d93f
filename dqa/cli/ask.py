"""The commands ``ask`` and ``mcp``, and the review of steps by a person at the terminal."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from annotated_types import Ge, Le

from dqa.cli import options
from dqa.cli.fields import ASKED, DECIDING, given_by, spec_fields
from dqa.cli.options import names_in, with_options
from dqa.cli.output import echo, show
from dqa.cli.progress import Steps
from dqa.core.database import DEFAULT_LIMITS
from dqa.core.distribution import own_command
from dqa.core.errors import CrashError, UsageError
from dqa.core.files import require_new_file
from dqa.core.provenance import user_name
from dqa.core.review import Review, ReviewAnswer, review_kinds
from dqa.core.text import visible, visible_lines
from dqa.evaluation.options import CallOptions
from dqa.loaders.custom_question import UserQuestion

if TYPE_CHECKING:
    from rich.console import Console

    from dqa.core.events import ReviewKind
    from dqa.evaluation.traces import Trace

_CHOICES = "[a]pprove, [e]dit, [r]eject with a reason, [q]uit: "


def _require_terminal(kinds: tuple[ReviewKind, ...], by: str | None) -> None:
    """Raise an error if a review has no terminal, or --approved-by is given without --approve."""
    if by is not None and not kinds:
        raise UsageError("--approved-by is the name of the reviewer, so it needs --approve.")
    if kinds and not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(
            "--approve needs a terminal. Without a terminal, pass a reviewer in Python (dqa.ask)."
        )


class TerminalReviewer:
    """Shows a step to a person on stderr, and reads the person's answer.

    Parameters
    ----------
    by
        Name of the person in the record.
    steps
        Progress display, which is hidden during the review.

    Attributes
    ----------
    was_interrupted
        Whether the person pressed Ctrl-C, which ends the decision.
    """

    def __init__(self, by: str, steps: Steps) -> None:
        self._by, self._steps = by, steps
        self.was_interrupted = False

    def __call__(self, review: Review) -> ReviewAnswer:
        """Ask the person. Ctrl-C and the end of the input end the decision."""
        from rich.console import Console

        console = Console(stderr=True, highlight=False)
        with self._steps.paused():
            try:
                _show(console, review)
                while True:
                    answer = self._answer(console, review)
                    if answer is not None:
                        return answer
            except KeyboardInterrupt:
                self.was_interrupted = True
                return ReviewAnswer(action="end", reason="interrupted", by=self._by)
            except EOFError:
                return ReviewAnswer(action="end", by=self._by)

    def _answer(self, console: Console, review: Review) -> ReviewAnswer | None:
        """Return the person's answer.

        Return None for an unknown answer, or for an edit that changes nothing.
        """
        # Compare whole words, so that "abort" does not approve.
        match console.input(_CHOICES, markup=False).strip().lower():
            case "q" | "quit":
                return ReviewAnswer(action="end", by=self._by)
            case "a" | "approve" | "y" | "yes":
                return ReviewAnswer(action="approve", by=self._by)
            case "r" | "reject" | "n" | "no":
                reason = console.input("Why? The model reads it (Enter for no reason): ")
                return ReviewAnswer(action="refuse", reason=reason.strip(), by=self._by)
            case "e" | "edit":
                console.print("Type the new text. An empty line ends it.")
                text = "\n".join(iter(lambda: console.input("> "), "")).strip()
                if text and text != review.text.strip():
                    return ReviewAnswer(action="correct", text=text, by=self._by)
                console.print("Nothing was changed.")
        return None


def _show(console: Console, review: Review) -> None:
    from rich.text import Text

    where = f" on {review.database}, {review.language}" if review.kind == "statement" else ""
    console.print(Text(visible(f"Step {review.step}: {review.kind}{where}"), style="bold"))
    if review.thought:
        console.print(Text(visible_lines(f"Thought: {review.thought.strip()}"), style="dim"))
    console.print(Text(visible_lines(review.text.strip())))
    if review.verdict:
        console.print(Text(visible(review.verdict), style="dim"))
    if review.problem:
        problem = f"Your edit cannot be used. {review.problem}"
        console.print(Text(visible_lines(problem), style="red"))


def _question(
    ctx: typer.Context, rules_text: str | None, candidate_name: list[str] | None
) -> UserQuestion:
    """Return the question that the command's options describe."""
    fields = given_by(ctx, ASKED.names)
    fields["target"] = options.pairs_in("--target", fields.get("target", ()))
    if "rules" in fields:
        fields["rules"] = options.text_in("--rules", fields["rules"])
    named = tuple(candidate_name) if candidate_name else None
    other = ("rules", rules_text, "--rules-text"), ("candidates", named, "--candidate-name")
    for name, value, option in other:
        if value is not None and name in fields:
            raise UsageError(f"--{name} and {option} exclude each other: give one.")
        fields.setdefault(name, value)
    return UserQuestion(**fields)


@with_options(ASKED, DECIDING)
def ask(  # noqa: PLR0913  (one parameter per option)
    *,
    ctx: typer.Context,
    database: options.DatabaseLocation,
    rules_text: str | None = None,
    candidate_name: list[str] | None = None,
    rule_set: str | None = None,
    decider: str | None = None,
    approve: str | None = None,
    approved_by: str | None = None,
    calling: CallOptions,
    access: options.AccessOptions,
    allow_no_evidence: bool = False,
    trace: Path | None = None,
    no_record: bool = False,
    html: Path | None = None,
    debug: bool = False,
    as_json: options.AsJson = False,
) -> None:
    """Ask one question about a database, and print the decision with its evidence.

    The exit code is 1 if the question ends without an answer.

    Parameters
    ----------
    rules_text
        Business rules as text, instead of --rules.
    candidate_name : NAME
        One of the possible decisions, instead of --candidates. Repeat the option for each.
    decider : NAME
        Decider that answers. By default, the default decider of the installed packages.
    approve : KINDS
        Ask for your approval at the terminal: of the plan, of each statement before it runs, or of
        the decision. Separate several kinds by commas: plan,statement,decision.
    approved_by : NAME
        Name of the reviewer in the record. By default, the name of your login.
    allow_no_evidence
        Accept an answer even if no statement succeeded.
    trace
        New file for the record of the decision. By default, the record is stored in the folder of
        the variable DQA_DECISIONS, or else in your data folder.
    no_record
        Do not store the record of the decision.
    html
        New HTML page of the decision: question, choice, alternatives with their outcomes, plan,
        statements with their rows, model and cost.
    debug
        If a bug occurs, stop and print its traceback.
    """
    from dqa.api.asking import ask as ask_one
    from dqa.api.asking import record_file, write_decision_page

    kinds = () if approve is None else review_kinds(names_in("--approve", approve))
    _require_terminal(kinds, approved_by)
    question = _question(ctx, rules_text, candidate_name)
    if html is not None:
        require_new_file(html)
    with Steps(calling.prices) as steps:
        reviewer = TerminalReviewer(approved_by or user_name(), steps) if kinds else None
        decided = ask_one(
            database,
            question,
            decider=decider,
            calls=calling,
            watcher=steps,
            reviewer=reviewer,
            review=kinds,
            debug=debug,
            allow_no_evidence=allow_no_evidence or None,
            record=trace or not no_record,
            rule_set=rule_set,
            **access.fields(),
            **spec_fields(given_by(ctx, DECIDING.names)),
        )
    interrupted = reviewer is not None and reviewer.was_interrupted
    if not interrupted:  # an interrupted decision is stored, but not printed
        _print(decided, as_json=as_json)
    if html is not None:
        write_decision_page(decided, html)
    if interrupted:
        raise KeyboardInterrupt
    _fail(decided, trace or (None if no_record else record_file(decided)))


def _print(decided: Trace, *, as_json: bool) -> None:
    """Print a decision and its warnings."""
    from dqa.report.reading import decision_lines

    show(decided, decision_lines(decided), as_json=as_json)
    for warning in decided.warnings:
        echo(f"warning: {warning}", err=True)


def _fail(decided: Trace, record: Path | None) -> None:
    """Print the location of the record. If there is no answer, raise an error or exit with 1."""
    from dqa.api.asking import require_decided
    from dqa.core.decision import Ending

    try:
        require_decided(decided)
    except CrashError as error:
        where = "--debug shows its traceback" if record is None else f"its traceback is in {record}"
        who = f"Report the bug to the maintainers of {decided.decider}, unless it is your decider."
        raise CrashError(f"{error}; {where}. {who}") from None
    if record is not None:
        echo(f"The record is {record}; '{own_command()} show {record}' shows it.", err=True)
    if decided.ending is not Ending.ANSWERED:
        raise typer.Exit(1)


_DECIDING = DECIDING._replace(names=(*DECIDING.names, "seconds"))


@with_options(_DECIDING)
def mcp(  # noqa: PLR0913  (one parameter per option)
    *,
    ctx: typer.Context,
    database: options.DatabaseLocation,
    access: options.AccessOptions,
    transport: Literal["stdio", "http"] = "stdio",
    host: str = "127.0.0.1",
    port: Annotated[int, Ge(0), Le(65535)] = 8000,
    allow_host: list[str] | None = None,
    model: str = "",
    decider: str | None = None,
    scenario: list[str] | None = None,
    calling: CallOptions,
) -> None:
    """Serve a database to agents over the Model Context Protocol (MCP), read-only.

    Every statement is checked and limited. With --audit, it is also recorded. The tool 'ask', which
    makes decisions, needs --model or --decider.

    Parameters
    ----------
    transport
        How clients connect: over standard input and output, or over streamable HTTP.
    host : ADDRESS
        Address to listen on, with --transport http.
    port
        Port to listen on, with --transport http. 0 selects a free port.
    allow_host : NAME
        Accept requests for this host name, in addition to --host. May be repeated. Required if the
        server listens on all addresses.
    model : PROVIDER:MODEL
        Chat model of the tool 'ask', for example openai:NAME.
    decider : NAME
        Decider of the tool 'ask'. By default, the default decider of the installed packages.
    scenario : NAME|DIR
        Scenario whose questions 'ask' may decide. May be repeated.
    """
    from dqa.api.asking import Decisions
    from dqa.api.mcp_server import serve_mcp

    fields = spec_fields(given_by(ctx, _DECIDING.names))
    limits, decisions = fields.get("limits", DEFAULT_LIMITS), None
    if not model:  # options such as --base-url do not choose a model
        fields.pop("model", None)
    if model or decider is not None:
        decisions = Decisions(decider, calls=calling, scenarios=scenario or (), **fields)
    serve_mcp(
        database,
        **access.fields(),
        limits=limits,
        decisions=decisions,
        transport=transport,
        host=host,
        port=port,
        allowed_hosts=allow_host or (),
    )
    os._exit(0)  # do not wait for running calls
