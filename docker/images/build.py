#!/usr/bin/env python3
"""Build Docker images of MariaDB, PostgreSQL and Neo4j from Debian packages and Maven artefacts.

Usage: ``python docker/images/build.py mariadb postgres neo4j``; see docker/README.md. No image
registry is needed: packages come from the mirrors in apt's configuration. The program prints
environment variables with the names of the images, for tests and ``compose.yaml``.
"""

import argparse
import hashlib
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Sequence
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
    """Build the images. Return the exit code: 0 for success, 1 for a failure, 2 for wrong usage."""
    parser = argparse.ArgumentParser(prog="build.py", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="|".join(VARIABLES), help="default: all")
    names = parser.parse_args(arguments).names or list(VARIABLES)
    if unknown := set(names) - set(VARIABLES):
        parser.error(f"unknown image {min(unknown)}")
    try:
        base = make_base()
        for name in names:
            build(name, base)
    except ServerError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    sys.stdout.writelines(f"{VARIABLES[name]}=dqa-{name}\n" for name in names)
    return 0


def make_base() -> str:
    """Create the base image if it is missing, and return its name.

    The image contains the same Linux distribution as this machine, from apt's mirror.
    """
    docker = _docker()
    if program("mmdebstrap") is None:
        install(["mmdebstrap"], "mmdebstrap")
    release = platform.freedesktop_os_release()["VERSION_CODENAME"]
    sources = find_sources()
    name = f"dqa-base:{release}-{hashlib.sha256(sources.encode()).hexdigest()[:12]}"
    if run([docker, "image", "ls", "--quiet", name], what="listing images").strip():
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
            what="creating a system from packages",
            environment={**os.environ, **_proxies()},
            timeout=900.0,
        )
        run([docker, "import", archive, name], what="importing the base image", timeout=300.0)
    return name


def find_sources() -> str:
    """Return the lines of a sources.list: apt's sources of the distribution's own packages."""
    command = ["apt-get", "indextargets", *_INDEXES, "Created-By: Packages"]
    found = run(command, what="asking apt for its sources").splitlines()
    lines = {line.partition("|")[2] for line in found if line.startswith(_DISTRIBUTIONS)}
    if not lines:  # without downloaded lists, apt does not know distributions
        raise ServerError("apt has no list of Debian's or Ubuntu's packages: run apt-get update")
    return "".join(f"{line}\n" for line in sorted(lines))


def build(name: str, base: str) -> None:
    """Build the image ``dqa-NAME`` from the folder ``NAME``."""
    proxies = [f"--build-arg={key}={value}" for key, value in _proxies().items()]
    # Use the host's network, because a mirror or a proxy may be reachable only from the host.
    options = ["--quiet", "--network=host", f"--build-arg=BASE={base}", *proxies]
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
    if found := program("docker"):
        return found
    raise ServerError("there is no program 'docker'; on Debian or Ubuntu: apt install docker.io")


if __name__ == "__main__":
    sys.exit(main())
