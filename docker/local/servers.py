"""Real database servers without Docker: throw-away MariaDB, PostgreSQL and Neo4j on loopback.

Usage: ``python docker/local/servers.py start mariadb postgres neo4j``; see docker/README.md.
Nothing beyond Python's standard library is needed.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from engines import ENGINES, prepare
from lifecycle import Server, default_state, open_state
from machine import ServerError, locked

_COMMANDS = {  # what each does, and how many names it takes
    "start": ("install what is missing, create and start servers, print their URLs", "+"),
    "stop": ("stop servers cleanly and discard their data (all, if none is named)", "*"),
    "kill": ("kill servers without warning; their data stay", "+"),
    "pause": ("stop servers where they are: connected, and answering nobody", "+"),
    "resume": ("let paused servers go on", "+"),
    "restart": ("start servers again on the same data, port and password", "+"),
    "status": ("tell which servers run", "*"),
    "url": ("print the URLs of servers, passwords included", "+"),
    "env": ("print NAME=URL for the integration tests, of all that run if none is named", "*"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code: 0 done, 1 failed, 2 wrong usage."""
    options = _parser().parse_args(arguments)
    try:
        state = open_state(options.state)
        servers = {name: Server(name, state, options.timeout) for name in options.names or ENGINES}
        if options.command in ("start", "restart", "stop", "kill", "pause", "resume"):
            with locked(state):
                _change(options, servers)
        report = _report(options.command, servers, named=bool(options.names))
    except ServerError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    if options.json:
        sys.stdout.write(json.dumps(report) + "\n")
    else:
        sys.stdout.writelines(_line(options.command, *entry) for entry in report.items())
    return 0


def _change(options: argparse.Namespace, servers: dict[str, Server]) -> None:
    """Carry the command out, for several servers at once: they mostly wait."""

    def carry_out(server: Server) -> None:
        match options.command:
            case "start":
                server.start(durable=options.durable)
            case "restart":
                server.restart()
            case "stop":
                server.stop(keep=options.keep)
            case "kill":
                server.kill()
            case "pause":
                server.pause()
            case "resume":
                server.resume()

    if options.command == "start":
        prepare(list(servers))
    with ThreadPoolExecutor(len(servers)) as pool:
        results = [pool.submit(carry_out, server) for server in servers.values()]
    failures = [str(error) for result in results if (error := result.exception())]
    for result in results:
        error = result.exception()
        if error is not None and not isinstance(error, ServerError):
            raise error  # a bug, with its traceback
    if failures:
        raise ServerError("\n".join(failures))


def _report(command: str, servers: dict[str, Server], *, named: bool) -> dict[str, object]:
    if command in ("start", "restart", "url"):
        return {name: server.url for name, server in servers.items()}
    if command == "env":
        shown = [server for server in servers.values() if named or server.running]
        return {server.engine.variable: server.url for server in shown}
    return {name: server.describe() for name, server in servers.items()}


def _line(command: str, name: str, value: object) -> str:
    if command == "env":
        return f"{name}={value}\n"
    if isinstance(value, dict):
        return " ".join([name, *(f"{key}={item}" for key, item in value.items())]) + "\n"
    return f"{value}\n"


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
    common.add_argument("--json", action="store_true", help="print one JSON object")
    parser = argparse.ArgumentParser(prog="servers.py", description=(__doc__ or "").split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (text, many) in _COMMANDS.items():
        command = commands.add_parser(name, help=text, description=text, parents=[common])
        command.add_argument("names", nargs=many, type=_name, metavar="|".join(ENGINES))
        if name == "start":
            command.add_argument("--durable", action="store_true", help="sync commits to the disk")
        if name == "stop":
            command.add_argument("--keep", action="store_true", help="keep the data for 'restart'")
    return parser


def _name(text: str) -> str:
    if text not in ENGINES:
        raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(ENGINES)}")
    return text


if __name__ == "__main__":
    sys.exit(main())
