"""``dqa memory``: memories of LDM2, formed, refined and looked at."""

from __future__ import annotations

import typer

from dqa.cli.help import Command, Group
from dqa_ldm2.commands import building, looking

app = typer.Typer(
    cls=Group,
    help="Memories of LDM2: what decisions of the past are remembered, by which version.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.command("build", cls=Command)(building.build)
app.command("refine", cls=Command)(building.refine)
app.command("show", cls=Command)(looking.show)
app.command("search", cls=Command)(looking.search)
app.command("diff", cls=Command)(looking.diff)
app.command("undo", cls=Command)(looking.undo)
app.command("export", cls=Command)(looking.export)
app.command("import", cls=Command)(looking.import_)
