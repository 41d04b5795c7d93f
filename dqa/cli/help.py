"""Help as plain text: options in groups that are the same everywhere, and no word cut in two."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

QUESTIONS: Final = "Questions"
"""What is decided: where questions come from, and what is right."""

MODELS: Final = "Deciders and models"
"""Who decides, by which model, and what it is shown."""

DATABASES: Final = "Databases"
"""What is decided on, and what may be read of it."""

LIMITS: Final = "Limits"
"""How long, how often, how much at once and for how much."""

OUTPUT: Final = "Output"
"""What is written, and where; whatever belongs to no other group, too."""

GROUPS: Final = (QUESTIONS, MODELS, DATABASES, LIMITS, OUTPUT)
"""The groups of options (`rich_help_panel`), in the order of the help."""

_INDENT = "  "
_COLUMN = 28


class _PlainHelp:
    """Writes a command's help itself: Typer's cuts words at hyphens and knows groups in boxes only.

    Parameters are Typer's own classes, of which nothing is used but what every version has.
    """

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401  (Typer's own)
        """Write usage, description and every group of options."""
        command: Any = self
        width = formatter.width
        shown = [one for one in command.get_params(ctx) if not getattr(one, "hidden", False)]
        arguments = [one for one in shown if one.param_type_name == "argument"]
        usage = ["Usage:", ctx.command_path, *command.collect_usage_pieces(ctx)]
        formatter.write(_wrapped(" ".join(usage), width, later=" " * 7) + "\n")
        for paragraph in textwrap.dedent(command.help or "").strip().split("\n\n"):
            text = " ".join(paragraph.split())
            formatter.write("\n" + _wrapped(text, width, first=_INDENT, later=_INDENT) + "\n")
        if arguments:
            write_section(formatter, "Arguments", [(_name(one), _help(one)) for one in arguments])
        for group, options in _grouped([one for one in shown if one not in arguments]):
            write_section(formatter, group, [(_name(one), _help(one)) for one in options])
        if isinstance(command, TyperGroup):
            write_section(formatter, "Commands", command_rows(command))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ANN401
        """Return what follows the command's name, in its help and above an error of usage."""
        command: Any = self
        arguments = [one for one in command.get_params(ctx) if one.param_type_name == "argument"]
        last = ["COMMAND ..."] if isinstance(command, TyperGroup) else []
        return ["[OPTIONS]", *map(_in_usage, arguments), *last]


class Command(_PlainHelp, TyperCommand):
    """A command whose help has its options in groups."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401  (Typer's own)
        """Read a command line; of a wrong value it is said what is wrong, and no class of error."""
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")
            raise


class Group(_PlainHelp, TyperGroup):
    """A command of commands with such help."""


def command_rows(group: Any) -> list[tuple[str, str]]:  # noqa: ANN401  (Typer's own)
    """Return a group's commands, each with the first sentence of what it does."""
    if hasattr(group, "described"):
        return list(group.described())
    return [
        (name, " ".join((command.help or "").split("\n\n")[0].split()))
        for name, command in group.commands.items()
    ]


def write_section(formatter: Any, title: str, rows: Sequence[tuple[str, str]]) -> None:  # noqa: ANN401
    """Write a heading and its rows: a name, and beside or below it what it is."""
    column = min(max(len(name) for name, _ in rows) + 2, _COLUMN)
    later = _INDENT + " " * column
    formatter.write(f"\n{title}:\n")
    for name, text in rows:
        first = f"{_INDENT}{name:<{column}}"
        if len(name) + 2 > column:
            formatter.write(f"{_INDENT}{name}\n")
            first = later
        formatter.write(_wrapped(text, formatter.width, first, later) + "\n")


def _wrapped(text: str, width: int, first: str = "", later: str = "") -> str:
    return textwrap.fill(
        text,
        width,
        initial_indent=first,
        subsequent_indent=later,
        break_on_hyphens=False,
        break_long_words=False,
    )


def _grouped(options: Sequence[Any]) -> Iterator[tuple[str, list[Any]]]:
    """Yield the options by group: ours in their order, before the last those of a plug-in."""
    by_group: dict[str, list[Any]] = {}
    for one in options:
        by_group.setdefault(getattr(one, "rich_help_panel", None) or OUTPUT, []).append(one)
    others = [group for group in by_group if group not in GROUPS]
    for group in (*GROUPS[:-1], *others, OUTPUT):
        if group in by_group:
            # A command without groups has options, and no output to speak of.
            yield ("Options" if [*by_group] == [OUTPUT] else group), by_group[group]


def _in_usage(argument: Any) -> str:  # noqa: ANN401
    name = _name(argument)
    return name if argument.required else f"[{name}]"


def _name(parameter: Any) -> str:  # noqa: ANN401
    if parameter.param_type_name == "argument":
        name = parameter.metavar or parameter.name.upper()
        return name if parameter.nargs == 1 or name.endswith("...") else f"{name}..."
    named = ", ".join(sorted(parameter.opts, key=len))
    if parameter.is_flag or parameter.count:
        return named
    return f"{named} {parameter.metavar or 'VALUE'}"


def _help(parameter: Any) -> str:  # noqa: ANN401
    """Return what a parameter is, and its default where that says something."""
    text, default = parameter.help or "", parameter.default
    if parameter.required:
        return text if parameter.param_type_name == "argument" else f"{text} (required)"
    if isinstance(default, float):
        return f"{text} (default {default:g})" if math.isfinite(default) else text
    if isinstance(default, int | str) and not isinstance(default, bool) and default != "":
        return f"{text} (default {default})"
    return text
