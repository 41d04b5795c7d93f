"""Build, refine and read LDM2's memories of past decisions. Each addition is a version."""

from __future__ import annotations

import typer

from dqa.cli.help import Command, Group
from dqa.cli.options import documented
from dqa_ldm2.commands import building, reading

app = typer.Typer(cls=Group, help=__doc__, no_args_is_help=True, rich_markup_mode=None)
for name, command in (
    ("build", building.build),
    ("refine", building.refine),
    ("show", reading.show_memory),
    ("search", reading.search),
    ("undo", reading.undo),
    ("export", reading.export),
):
    app.command(name, cls=Command)(documented(command))
