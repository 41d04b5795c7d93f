#!/usr/bin/env python3
"""Docker images of MariaDB, PostgreSQL and Neo4j, from Debian packages and Maven artefacts.

Usage: ``python docker/images/build.py mariadb postgres neo4j``; see docker/README.md.
No registry is asked: packages come from the mirror that apt is set up with. What is printed are
the variables by which containers and ``compose.yaml`` find the images.
"""

import argparse
import hashlib
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "local"))

from engines import Neo4j  # noqa: E402 - in the folder next to this one
from machine import ServerError, install, program, run  # noqa: E402

VARIABLES = {
    "mariadb": "DQA_MYSQL_IMAGE",
    "postgres": "DQA_POSTGRES_IMAGE",
    "neo4j": "DQA_NEO4J_IMAGE",
}
_INDEXES = ["--format", "$(ORIGIN)|deb $(REPO_URI) $(RELEASE) $(COMPONENT)"]
_DISTRIBUTIONS = ("Debian|", "Ubuntu|")
_LEFT_OUT = ("/usr/share/doc/*", "/usr/share/man/*", "/usr/share/locale/*")


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the images and return the exit code: 0 done, 1 failed, 2 wrong usage."""
    options = _parser().parse_args(arguments)
    names = options.names or list(VARIABLES)
    try:
        with _timed("the base image"):
            base = make_base(fresh=options.fresh)
        for name in names:
            with _timed(f"dqa-{name}"):
                build(name, base, fresh=options.fresh)
    except ServerError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    sys.stdout.writelines(f"{VARIABLES[name]}=dqa-{name}\n" for name in names)
    return 0


def make_base(*, fresh: bool) -> str:
    """Make the image that the others begin with, unless it is there; return its name.

    It is this machine's own distribution, so that the mirror at hand has its packages.
    """
    docker = _docker()
    if program("mmdebstrap") is None:
        install(["mmdebstrap"], "mmdebstrap")
    release = platform.freedesktop_os_release()["VERSION_CODENAME"]
    sources = find_sources()
    name = f"dqa-base:{release}-{hashlib.sha256(sources.encode()).hexdigest()[:12]}"
    listed = run([docker, "image", "ls", "--quiet", name], what="asking for images")
    if listed.strip() and not fresh:
        return name
    with tempfile.TemporaryDirectory(prefix="dqa-image-") as scratch:
        listing, archive = Path(scratch) / "sources.list", Path(scratch) / "base.tar"
        listing.write_text(sources, encoding="ascii")
        command = ["mmdebstrap", "--quiet", "--variant=apt", "--dpkgopt=force-unsafe-io"]
        command += [f"--dpkgopt=path-exclude={pattern}" for pattern in _LEFT_OUT]
        if "https://" in sources:
            command.append("--include=ca-certificates")
        run(
            [*command, release, archive, listing],
            what="making a system from packages",
            environment={**os.environ, **_proxies()},
            timeout=900.0,
        )
        run([docker, "import", archive, name], what="importing the base image", timeout=300.0)
    return name


def find_sources() -> str:
    """Return the lines of a sources.list: the distribution's own among those apt is set up with."""
    command = ["apt-get", "indextargets", *_INDEXES, "Created-By: Packages"]
    for attempt in (1, 2):
        found = run(command, what="asking apt for its sources").splitlines()
        lines = {line.partition("|")[2] for line in found if line.startswith(_DISTRIBUTIONS)}
        if lines:
            return "".join(f"{line}\n" for line in sorted(lines))
        if attempt == 1:  # whose they are is known from the lists alone
            run(["apt-get", "-q", "update"], what="apt-get update", timeout=300.0)
    raise ServerError("apt is set up with no source of Debian's or Ubuntu's own packages")


def build(name: str, base: str, *, fresh: bool) -> None:
    """Build one image from its folder here."""
    proxies = [f"--build-arg={key}={value}" for key, value in _proxies().items()]
    # The machine's own network: a mirror or a proxy may be reachable from it alone.
    options = ["--quiet", "--network=host", f"--build-arg=BASE={base}", *proxies]
    if fresh:
        options.append("--no-cache")
    with tempfile.TemporaryDirectory(prefix="dqa-image-") as scratch:
        folder = shutil.copytree(HERE / name, Path(scratch) / name)
        if name == "neo4j":
            neo4j = Neo4j()
            neo4j.prepare()
            shutil.copytree(neo4j.jars(), folder / "jars")
        run(
            [_docker(), "build", *options, f"--tag=dqa-{name}", folder],
            what=f"building the image dqa-{name}",
            timeout=900.0,
        )


def _proxies() -> dict[str, str]:
    """Return the proxies that apt uses, as environment variables."""
    found = {}
    for scheme in ("http", "https"):
        command = ["apt-config", "shell", "proxy", f"Acquire::{scheme}::Proxy"]
        value = run(command, what="asking apt for its proxy").partition("=")[2].strip().strip("'")
        if value and value != "DIRECT":
            found[f"{scheme}_proxy"] = value
    return found


def _docker() -> str:
    found = program("docker")
    if found is None:
        raise ServerError(
            "there is no program 'docker'; on Debian or Ubuntu: apt install docker.io"
        )
    return found


@contextmanager
def _timed(what: str) -> Iterator[None]:
    """Print on the error output how long something took."""
    begun = time.monotonic()
    yield
    sys.stderr.write(f"{what}: {time.monotonic() - begun:.0f} s\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="build.py", description=(__doc__ or "").split("\n")[0])
    names = "|".join(VARIABLES)
    parser.add_argument("names", nargs="*", type=_name, metavar=names, help="all, if none is named")
    parser.add_argument("--fresh", action="store_true", help="use nothing of earlier builds")
    return parser


def _name(text: str) -> str:
    if text not in VARIABLES:
        raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(VARIABLES)}")
    return text


if __name__ == "__main__":
    sys.exit(main())
