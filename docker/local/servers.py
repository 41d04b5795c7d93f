"""Run temporary MariaDB, PostgreSQL and Neo4j servers on 127.0.0.1 without Docker.

Usage: ``python docker/local/servers.py start mariadb postgres neo4j``; see docker/README.md.
Only Python's standard library is needed.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from engines import ENGINES, prepare
from lifecycle import Server, default_state, open_state
from machine import ServerError, locked, one_of

_COMMANDS = {  # the help and the `nargs` of each command
    "start": ("install missing packages, create and start servers, and print their URLs", "+"),
    "stop": ("shut servers down and discard their data (by default, all servers)", "*"),
    "kill": ("kill servers without a shutdown; their data remain", "+"),
    "pause": ("freeze servers: they do not answer, but connections stay open", "+"),
    "resume": ("resume paused servers", "+"),
    "restart": ("start servers again with the same data, port and password", "+"),
    "status": ("show the state of servers (by default, all servers)", "*"),
    "env": ("print NAME=URL for the integration tests (by default, of all running servers)", "*"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command. Return the exit code: 0 for success, 1 for a failure, 2 for wrong usage."""
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
    """Run a command for several servers in parallel."""
    if command == "start":
        prepare([server.name for server in servers])
    with ThreadPoolExecutor(len(servers)) as pool:
        results = [pool.submit(getattr(server, command)) for server in servers]
    errors = [error for result in results if (error := result.exception())]
    for error in errors:
        if not isinstance(error, ServerError):
            raise error  # a bug
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
        help="folder for the servers' data and passwords (default: %(default)s)",
    )
    common.add_argument(
        "--timeout",
        type=float,
        default=60.0,
        metavar="SECONDS",
        help="maximum time for a server to start, and to stop (default: %(default)g)",
    )
    parser = argparse.ArgumentParser(prog="servers.py", description=(__doc__ or "").split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (text, many) in _COMMANDS.items():
        command = commands.add_parser(name, help=text, description=text, parents=[common])
        shown = "|".join(ENGINES)
        command.add_argument("names", nargs=many, type=one_of(ENGINES), metavar=shown)
    return parser


if __name__ == "__main__":
    sys.exit(main())
