"""The generated pages of the documentation site: its start page and the reference.

``mkdocs build`` calls `on_files`. The start page is the README. The reference comes from the code:
the help of every command, the settings of deciders and worlds, and the fields of every format.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from typer.main import get_group
from typer.testing import CliRunner

from dqa import plugins
from dqa.api.listing import format_names, json_schema, settings_of
from dqa.cli.main import app


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages.

    Parameters
    ----------
    files
        The pages of the folder.
    config
        The site's configuration.

    Returns
    -------
    Files
        All pages.
    """
    readme = Path(config.config_file_path).with_name("README.md").read_text("utf-8")
    pages = {
        "index.md": readme.replace("](docs/", "](").replace(
            "[CONTRIBUTING.md](CONTRIBUTING.md)", "`CONTRIBUTING.md`"
        ),
        "reference/commands.md": "\n".join(_commands()),
        "reference/settings.md": "\n".join(_settings()),
        "reference/formats.md": "\n".join(_formats()),
    }
    for path, content in pages.items():
        files.append(File.generated(config, path, content=content))
    return files


def _commands() -> Iterator[str]:
    """Yield the lines of the page of commands."""
    yield "# Commands\n"
    for name in get_group(app).commands:
        shown = CliRunner().invoke(app, [name, "--help-all"], terminal_width=100)
        if shown.exit_code:  # a group of commands
            shown = CliRunner().invoke(app, [name, "--help"], terminal_width=100)
        yield f"## dqa {name}\n\n```text\n{shown.output.strip()}\n```\n"


def _settings() -> Iterator[str]:
    """Yield the lines of the page of settings."""
    yield "# Settings\n\nOn the command line: `--set NAME=VALUE`.\n"
    for decider in plugins.names("decider"):
        if infos := settings_of(decider):
            yield f"## {decider}\n"
            yield from _table(
                ("setting", "default", "accepts", "meaning"),
                ((info.name, info.default, info.accepts, info.description) for info in infos),
            )
    for name in plugins.names("world"):
        yield f"## World {name}\n"
        yield from _fields(plugins.world(name).settings.model_json_schema())


def _formats() -> Iterator[str]:
    """Yield the lines of the page of formats."""
    yield "# Formats\n\n`dqa data formats NAME` prints the complete JSON Schema.\n"
    for name in format_names():
        schema = json_schema(name)
        yield f"## {name}\n\n{schema.get('description', '').partition(chr(10))[0]}\n"
        yield from _fields(schema)


def _fields(schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield a table of the fields of a JSON Schema."""
    yield from _table(
        ("field", "default", "meaning"),
        (
            (name, field.get("default", "required"), field.get("description", ""))
            for name, field in schema.get("properties", {}).items()
        ),
    )


def _table(heads: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> Iterator[str]:
    """Yield the lines of a Markdown table, and an empty one."""
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows:
        cells = (" ".join(str(cell).split()).replace("|", "\\|") for cell in row)
        yield f"| {' | '.join(cells)} |"
    yield ""
