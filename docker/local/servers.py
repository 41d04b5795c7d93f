"""Real database servers without Docker: throw-away MariaDB, PostgreSQL and Neo4j on loopback.

Usage: ``python docker/local/servers.py start mariadb postgres neo4j``; see docker/README.md.
Nothing beyond Python's standard library is needed.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from engines import ENGINES, prepare
from lifecycle import Server, default_state, open_state
from machine import ServerError, locked

_COMMANDS = {  # what each does, and how many names it takes
    "start": ("install what is missing, create and start servers, print their URLs", "+"),
    "stop": ("stop servers cleanly and discard their data (all, if none is named)", "*"),
    "kill": ("kill servers without warning; their data stay", "+"),
    "pause": ("stop servers: they answer no one and close no connection", "+"),
    "resume": ("let paused servers continue", "+"),
    "restart": ("start servers again on the same data, port and password", "+"),
    "status": ("show which servers run", "*"),
    "env": ("print NAME=URL for the integration tests, of all that run if none is named", "*"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code: 0 done, 1 failed, 2 wrong usage."""
    options = _parser().parse_args(arguments)
    try:
        state = open_state(options.state)
        servers = [Server(name, state, options.timeout) for name in options.names or ENGINES]
        if options.command not in ("status", "env"):
            with locked(state):
                _change(options.command, servers)
        for line in _report(options.command, servers, named=bool(options.names)):
            print(line)  # noqa: T201
    except ServerError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


def _change(command: str, servers: Sequence[Server]) -> None:
    """Run a command for several servers at once: they mostly wait."""
    if command == "start":
        prepare([server.name for server in servers])
    with ThreadPoolExecutor(len(servers)) as pool:
        results = [pool.submit(getattr(server, command)) for server in servers]
    errors = [error for result in results if (error := result.exception())]
    for error in errors:
        if not isinstance(error, ServerError):
            raise error  # a bug, with its traceback
    if errors:
        raise ServerError("\n".join(map(str, errors)))


def _report(command: str, servers: Sequence[Server], *, named: bool) -> Iterator[str]:
    for server in servers:
        if command in ("start", "restart"):
            yield server.url
        elif command != "env":
            shown = (f"{key}={value}" for key, value in server.describe().items())
            yield " ".join([server.name, *shown])
        elif named or server.running:
            yield f"{server.engine.variable}={server.url}"


def _parser() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--state",
        type=Path,
        default=default_state(),
        metavar="DIR",
        help="folder of the servers' data and passwords (default: %(default)s)",
    )
    common.add_argument(
        "--timeout",
        type=float,
        default=60.0,
        metavar="SECONDS",
        help="how long a server may take to start, and to stop (default: %(default)g)",
    )
    parser = argparse.ArgumentParser(prog="servers.py", description=(__doc__ or "").split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (text, many) in _COMMANDS.items():
        command = commands.add_parser(name, help=text, description=text, parents=[common])
        command.add_argument("names", nargs=many, type=_name, metavar="|".join(ENGINES))
    return parser


def _name(text: str) -> str:
    if text not in ENGINES:
        raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(ENGINES)}")
    return text


if __name__ == "__main__":
    sys.exit(main())
