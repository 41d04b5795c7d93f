"""Run temporary MariaDB, PostgreSQL and Neo4j servers on 127.0.0.1 without Docker.

    start     install missing packages, create and start servers, and print their URLs
    stop      shut servers down and discard their data
    kill      kill servers without a shutdown; their data remain
    restart   start servers again with the same data, port and password
    env       print VARIABLE=URL for the integration tests (by default: of all running servers)

For example: ``python docker/local/servers.py start mariadb postgres neo4j``; see docker/README.md.
Only Python's standard library is needed.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from engines import ENGINES, prepare
from lifecycle import Server, open_state
from machine import ServerError, locked

_COMMANDS = ("start", "stop", "kill", "restart", "env")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command. Return the exit code: 0 for success, 1 for a failure, 2 for wrong usage."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if unknown := set(options.names) - set(ENGINES):
        parser.error(f"unknown server {min(unknown)}: choose from {', '.join(ENGINES)}")
    os.umask(0o022)  # the servers' account must be able to read programs
    try:
        state = open_state(options.state)
        servers = [Server(name, state, options.timeout) for name in options.names or ENGINES]
        if options.command != "env":
            with locked(state):
                _change(options.command, servers)
        for line in _report(options.command, servers, named=bool(options.names)):
            print(line)  # noqa: T201
    except ServerError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


def _change(command: str, servers: Sequence[Server]) -> None:
    """Run a command for several servers in parallel. At the end, raise the first error."""
    if command == "start":
        prepare([server.name for server in servers])
    with ThreadPoolExecutor(len(servers)) as pool:
        results = [pool.submit(getattr(server, command)) for server in servers]
    for result in results:
        result.result()


def _report(command: str, servers: Sequence[Server], *, named: bool) -> Iterator[str]:
    for server in servers:
        if command in ("start", "restart"):
            yield server.url
        elif command == "env" and (named or server.running):
            yield f"{server.engine.variable}={server.url}"


def _parser() -> argparse.ArgumentParser:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("servers.py", description=__doc__, formatter_class=raw)
    parser.add_argument("command", choices=_COMMANDS, metavar="COMMAND", help="one of the commands")
    parser.add_argument("names", nargs="*", metavar="|".join(ENGINES), help="default: all")
    own = Path(tempfile.gettempdir(), f"dqa-servers-{os.geteuid()}")
    state = "folder for the servers' data and passwords"
    timeout = "maximum number of seconds to start or stop a server"
    parser.add_argument("--state", type=Path, default=own, metavar="DIR", help=state)
    parser.add_argument("--timeout", type=float, default=60.0, metavar="SECONDS", help=timeout)
    return parser


if __name__ == "__main__":
    sys.exit(main())
