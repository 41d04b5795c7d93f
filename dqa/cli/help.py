"""Format the help of commands as plain text, with the options in groups."""

from __future__ import annotations

import math
from typing import Any, Final

from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException

QUESTIONS: Final = "Questions"
"""Options for the source of questions and their right answers."""
MODELS: Final = "Deciders and models"
"""Options for deciders, their models, and the data that models see."""
DATABASES: Final = "Databases"
"""Options for databases, and for the data that may be read."""
LIMITS: Final = "Limits"
"""Options for limits on time, numbers, parallelism and cost."""
OUTPUT: Final = "Output"
"""Options for files and formats, and all options without a group."""
GROUPS: Final = (QUESTIONS, MODELS, DATABASES, LIMITS, OUTPUT)
"""The groups of options (`rich_help_panel`) in the order of the help."""

_NAMES = {
    QUESTIONS: """own question questions question_set scenario scenarios target rules rules_text
        candidate candidates context file allow_no_evidence release generated generate limit spec
        strict form seed epoch epochs rule_set strict_official r_ves world worlds games mirror hops
        min_margin max_margin rivals distractors mix per_database size shared""",
    MODELS: """deciders decider model base_url protocol temperature top_p reasoning_effort
        extra_body settings record replay digits samples schema_tokens reference approve approved_by
        player players opponent opponents""",
    DATABASES: "database databases dialect drop tables policy audit",
    LIMITS: "row_limit budget",
}
GROUP_OF = {name: group for group, names in _NAMES.items() for name in names.split()}
"""The group of an option by the name of its parameter."""
_RARE = """
    audit digits engine extra_body fail_fast isolation max_concurrency max_cost max_rows
    max_seconds max_statements max_steps max_tokens price_cached price_input price_output
    price_reasoning processes protocol r_ves ray_address reasoning_effort record replay
    reply_tokens requests_per_minute retries retry_failed row_limit rule_set samples schema_tokens
    strict strict_official timeout tokens_per_minute top_p
"""
RARE: Final = frozenset(_RARE.split())
"""Options that a command with more than 25 options lists only with ``--help-all``."""
_MOST = 25
_COLUMN = 26
_ALL = "--help-all"
_HYPHEN = "\N{NON-BREAKING HYPHEN}"
"""Replaces hyphens while lines are wrapped, so that no line break divides the name of an option."""


class _PlainHelp:
    """Writes the help of a command as plain text, with its options in groups.

    Typer's own help draws boxes around groups, and its plain help has no groups.
    """

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401  (Typer's own)
        """Write the usage line, the description and the groups of options."""
        command: Any = self
        command.format_usage(ctx, formatter)
        command.format_help_text(ctx, formatter)
        # The group of output options stays last, even after a plug-in's own groups.
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": []}
        sections |= {group: [] for group in GROUPS[:-1]}
        parameters = command.get_params(ctx)
        is_short = len(parameters) > _MOST and _ALL not in ctx.meta
        for one in parameters:
            group = getattr(one, "rich_help_panel", None) or OUTPUT
            group = "Arguments" if one.param_type_name == "argument" else group
            record = one.get_help_record(ctx)
            if record is not None and not (is_short and one.name in RARE):
                name = one.metavar if group == "Arguments" else record[0]
                sections.setdefault(group, []).append((name, _help(one)))
        output = sections.pop(OUTPUT, [])
        alone = not any(rows for name, rows in sections.items() if name != "Arguments")
        sections["Options" if alone else OUTPUT] = output
        for title, rows in (sections | self.sections()).items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl(
                        [(name, text.replace("-", _HYPHEN)) for name, text in rows], _COLUMN
                    )
        if is_short:
            formatter.write(f"\n{_ALL} lists all options.\n")
        formatter.buffer[:] = [part.replace(_HYPHEN, "-") for part in formatter.buffer]

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ANN401
        """Return the words after the command's name in the usage line."""
        command: Any = self
        arguments = [one for one in command.get_params(ctx) if one.param_type_name == "argument"]
        pieces = (one.metavar if one.required else f"[{one.metavar}]" for one in arguments)
        return ["[OPTIONS]", *pieces, *(["COMMAND ..."] if hasattr(self, "commands") else [])]

    def sections(self) -> dict[str, list[tuple[str, str]]]:
        """Return the name of each subcommand and the first paragraph of its help, by section."""
        commands = getattr(self, "commands", {}).items()
        return {"Commands": [(name, (one.help or "").split("\n\n")[0]) for name, one in commands]}


class Command(_PlainHelp, TyperCommand):
    """A command whose help shows options in groups."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401  (Typer's own)
        """Parse a command line. Improve Typer's error messages."""
        if _ALL in args:
            ctx.meta[_ALL] = True
            args = ["--help"]
        try:
            return super().parse_args(ctx, args)
        except TyperException as found:
            error: Any = found  # Typer defines `message` in a private class
            kinds = {one.name: one.param_type_name for one in self.params}
            if getattr(error, "option_name", None) == "--database" and "database" in kinds:
                error.message = "Give the database without --database: it is an argument."
                error.possibilities = None
            elif "unexpected extra" in error.message and {*kinds.values()} == {"option"}:
                error.message += ". For a database, use --database." if "database" in kinds else ""
            error.message = error.message.removeprefix("Value error, ")
            raise


class Group(_PlainHelp, TyperGroup):
    """A group of commands with help as plain text."""


def _help(parameter: Any) -> str:  # noqa: ANN401
    """Return the help of a parameter, with its default if the default is informative."""
    text, default = parameter.help or "", parameter.default
    if parameter.required:
        return text if parameter.param_type_name == "argument" else f"{text} (required)"
    if isinstance(default, float):
        return f"{text} (default {default:g})" if math.isfinite(default) else text
    shown = isinstance(default, int | str) and not isinstance(default, bool) and default != ""
    return f"{text} (default {default})" if shown else text
