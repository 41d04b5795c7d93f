"""The three kinds of servers: their packages, data folders, commands and URLs."""

import hashlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from machine import (
    PROGRAM_FOLDERS,
    ServerError,
    give,
    give_file,
    install,
    locked,
    program,
    run,
)

USER = "dqa"
DATABASE = "dqa"
LOG = "server.log"
_MAVEN_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin"  # version in the pom
_HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Site:
    """The folder, the port and the password of one server."""

    folder: Path
    port: int
    password: str

    @property
    def home(self) -> Path:
        """The server's home folder, which belongs to the servers' account."""
        return self.folder / "home"

    @property
    def log(self) -> Path:
        """The file with the output of the server."""
        return self.folder / LOG


class Engine(ABC):
    """One kind of server."""

    name: ClassVar[str]
    variable: ClassVar[str]
    """The environment variable from which the integration tests read the URL."""
    stop_signal: ClassVar[signal.Signals] = signal.SIGTERM

    @abstractmethod
    def prepare(self) -> None:
        """Install missing packages."""

    @abstractmethod
    def create(self, site: Site) -> None:
        """Create the data folder with a user and a database."""

    def clear(self, site: Site) -> None:  # noqa: B027 - most engines need no cleanup
        """Remove files of a killed server that prevent its start."""

    @abstractmethod
    def command(self, site: Site) -> list[str]:
        """Return the command that runs the server in the foreground."""

    @abstractmethod
    def answers(self, site: Site) -> bool:
        """Return whether the server runs queries."""

    @abstractmethod
    def url(self, site: Site) -> str:
        """Return the URL with the user and the password."""


class MariaDB(Engine):
    """MariaDB from Debian's core packages, which contain the programs but no service."""

    name = "mariadb"
    variable = "DQA_TEST_MYSQL_URL"

    def prepare(self) -> None:  # noqa: D102
        wanted = ("mariadbd", "mariadb-install-db", "mariadb")
        if not all(map(program, wanted)):
            install(["mariadb-server-core", "mariadb-client-core"], "MariaDB")

    def create(self, site: Site) -> None:  # noqa: D102
        settings = {
            "datadir": site.home / "data",
            # A starting server deletes all `#sql*` files in this folder, so servers must not share
            # it.
            "tmpdir": site.home / "tmp",
            "bind-address": "127.0.0.1",
            "port": site.port,
            "socket": "mariadb.sock",  # relative to datadir, because a full path may be too long
            "pid-file": "mariadb.pid",
            "skip-name-resolve": 1,
            "character-set-server": "utf8mb4",
            "max-allowed-packet": "64M",
            "innodb-buffer-pool-size": "128M",
            "innodb-log-file-size": "32M",
            # The data survive a crash of the server, but not a crash of the machine.
            "innodb-flush-method": "nosync",
            "innodb-flush-log-at-trx-commit": 2,
            "innodb-doublewrite": 0,
        }
        lines = (f"{key}={value}" for key, value in settings.items())
        give_file(site.home / "my.cnf", "\n".join(["[mariadbd]", *lines, ""]))
        for folder in ("data", "tmp"):
            give(_made(site.home / folder), 0o700)
        run(
            [
                _required("mariadb-install-db"),
                self._defaults(site),
                "--auth-root-authentication-method=socket",
                "--skip-test-db",
            ],
            what="creating MariaDB's system tables",
            folder=site.home,
            as_server=True,
        )
        run(
            [*self.command(site), "--bootstrap"],
            what="creating MariaDB's user",
            folder=site.home,
            as_server=True,
            text=f"FLUSH PRIVILEGES;\nCREATE DATABASE {DATABASE};\n"
            f"CREATE USER {USER}@'%' IDENTIFIED BY '{site.password}';\n"
            f"GRANT ALL PRIVILEGES ON *.* TO {USER}@'%' WITH GRANT OPTION;\n",
        )

    def command(self, site: Site) -> list[str]:  # noqa: D102
        return [_required("mariadbd"), self._defaults(site)]

    def answers(self, site: Site) -> bool:  # noqa: D102
        where = ["--protocol=tcp", "--host=127.0.0.1", f"--port={site.port}"]
        query = [f"--user={USER}", "--execute=SELECT 1", DATABASE]
        client = [_required("mariadb"), "--no-defaults", "--connect-timeout=2"]
        return _succeeds([*client, *where, *query], MYSQL_PWD=site.password)

    def url(self, site: Site) -> str:  # noqa: D102
        return f"mysql+pymysql://{USER}:{site.password}@127.0.0.1:{site.port}/{DATABASE}"

    @staticmethod
    def _defaults(site: Site) -> str:
        return f"--defaults-file={site.home / 'my.cnf'}"


class Postgres(Engine):
    """PostgreSQL from Debian's package, with its own data folder (cluster)."""

    name = "postgres"
    variable = "DQA_TEST_POSTGRES_URL"
    stop_signal = signal.SIGINT  # "fast" shutdown, which does not wait for clients

    def prepare(self) -> None:  # noqa: D102
        if not all(map(self._program, ("initdb", "postgres", "psql"))):
            install(["postgresql"], "PostgreSQL")

    def create(self, site: Site) -> None:  # noqa: D102
        data = site.home / "data"
        run(
            [
                *(self._required("initdb"), "--pgdata", data, "--username", USER),
                *("--encoding=UTF8", "--locale=C", "--auth=trust", "--no-sync"),
            ],
            what="creating PostgreSQL's data folder",
            folder=site.home,
            as_server=True,
        )
        give_file(data / "pg_hba.conf", "host all all 127.0.0.1/32 scram-sha-256\n")
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": site.port,
            "unix_socket_directories": "",
            # The data survive a crash of the server, but not a crash of the machine.
            "fsync": "off",
            "full_page_writes": "off",
        }
        with (data / "postgresql.conf").open("a", encoding="utf-8") as file:
            file.writelines(f"{key} = '{value}'\n" for key, value in settings.items())
        run(
            [self._required("postgres"), "--single", "-D", data, "postgres"],
            what="creating PostgreSQL's user",
            folder=site.home,
            as_server=True,
            text=f"ALTER ROLE {USER} PASSWORD '{site.password}'\nCREATE DATABASE {DATABASE}\n",
        )

    def clear(self, site: Site) -> None:
        """Remove the lock file of a killed server.

        PostgreSQL does not remove it if the killed process remains as a zombie.
        """
        (site.home / "data" / "postmaster.pid").unlink(missing_ok=True)

    def command(self, site: Site) -> list[str]:  # noqa: D102
        return [self._required("postgres"), "-D", str(site.home / "data")]

    def answers(self, site: Site) -> bool:  # noqa: D102
        where = ["--host=127.0.0.1", f"--port={site.port}", f"--username={USER}"]
        query = ["--no-psqlrc", "--no-password", "--command=SELECT 1", DATABASE]
        secret = {"PGPASSWORD": site.password, "PGCONNECT_TIMEOUT": "2"}
        return _succeeds([self._required("psql"), *where, *query], **secret)

    def url(self, site: Site) -> str:  # noqa: D102
        return f"postgresql+psycopg://{USER}:{site.password}@127.0.0.1:{site.port}/{DATABASE}"

    @staticmethod
    def _program(name: str) -> str | None:
        """Find a program of the newest version. Debian's server programs are not on the path."""
        folders = Path("/usr/lib/postgresql").glob("*/bin")
        return program(name, *sorted(folders, key=lambda f: float(f.parent.name), reverse=True))

    @classmethod
    def _required(cls, name: str) -> str:
        return cls._program(name) or _required(name)


class Neo4j(Engine):
    """Neo4j Community from the Maven artefacts in ``neo4j/pom.xml``. It needs Java 17 or later."""

    name = "neo4j"
    variable = "DQA_TEST_NEO4J_URL"

    def prepare(self) -> None:  # noqa: D102
        if _java_version() < 17:
            install(["default-jre-headless"], "Java 17")
        if _java_version() < 17:
            raise ServerError("Neo4j 5.26 needs Java 17 or later: set JAVA_HOME to its folder")
        target = self.jars()
        if target.is_dir():
            if target.stat().st_uid != os.geteuid():
                raise ServerError(f"the folder {target} belongs to another user: remove it")
            return
        if program("mvn") is None:
            install(["maven"], "Maven")
        # Download into a temporary folder, and rename it when complete.
        with tempfile.TemporaryDirectory(dir=target.parent, prefix="dqa-neo4j-") as scratch:
            jars = _made(Path(scratch) / "jars")
            jars.chmod(0o755)
            goal = [f"{_MAVEN_PLUGIN}:copy-dependencies", f"-DoutputDirectory={jars}"]
            options = ["--batch-mode", "--quiet", "--no-transfer-progress"]
            run(
                [_required("mvn"), *options, "--file", _HERE / "neo4j" / "pom.xml", *goal],
                what="downloading Neo4j with Maven",
                timeout=1200.0,
            )
            for jar in jars.iterdir():
                jar.chmod(0o644)
            jars.rename(target)

    def create(self, site: Site) -> None:  # noqa: D102
        for name in ("conf", "data", "import", "logs"):
            give(_made(site.home / name), 0o700)
        address = f"127.0.0.1:{site.port}"
        settings = {
            "server.default_listen_address": "127.0.0.1",
            "server.bolt.listen_address": address,
            "server.bolt.advertised_address": address,
            "server.http.enabled": "false",
            "server.https.enabled": "false",
            "server.memory.pagecache.size": "64m",
            # All queries together may use about half of the heap. The server needs the other half.
            "db.memory.transaction.max": "128m",
            "dbms.memory.transaction.total.max": "256m",
            "server.directories.import": "import",
            # LOAD CSV may read the import folder, but no network address.
            "internal.dbms.cypher_ip_blocklist": "0.0.0.0/0,::/0",
            "db.tx_log.preallocate": "false",
            "dbms.usage_report.enabled": "false",
            # Without this setting, a stopping server waits for further clients, twice for 5 s.
            "internal.dbms.bolt.netty_server_shutdown_quiet_period": "0",
        }
        lines = (f"{key}={value}\n" for key, value in settings.items())
        give_file(site.home / "conf" / "neo4j.conf", "".join(lines))
        arguments = give_file(
            site.home / "arguments", f"dbms\nset-initial-password\n{site.password}\n"
        )
        run(
            [*self._java(), "org.neo4j.cli.AdminTool", f"@{arguments}"],
            what="setting Neo4j's password",
            folder=site.home,
            environment={"NEO4J_HOME": str(site.home), "NEO4J_CONF": str(site.home / "conf")},
            as_server=True,
        )
        arguments.unlink()

    def command(self, site: Site) -> list[str]:  # noqa: D102
        opened = ("java.nio", "java.io", "sun.nio.ch", "java.util.concurrent")
        return [
            *self._java(),
            *(f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in opened),
            "-Xms256m",
            "-Xmx512m",
            # With these settings, a full heap soon ends a statement with an out-of-memory error.
            # Java's default collector would block the server for more than a minute instead.
            *("-XX:+UseParallelGC", "-XX:GCTimeLimit=60", "-XX:GCHeapFreeLimit=10"),
            "-Dfile.encoding=UTF-8",
            "org.neo4j.server.CommunityEntryPoint",
            f"--home-dir={site.home}",
            f"--config-dir={site.home / 'conf'}",
            "--console-mode",
        ]

    def answers(self, site: Site) -> bool:
        """Return whether the log reports the start of the server. A query would need a driver."""
        return " Started." in site.log.read_text(encoding="utf-8", errors="replace")

    def url(self, site: Site) -> str:  # noqa: D102
        return f"bolt://neo4j:{site.password}@127.0.0.1:{site.port}"

    def _java(self) -> list[str]:
        # If a server runs only briefly, the optimising compiler takes more time than it saves.
        java = _java() or _required("java")
        return [java, "-XX:TieredStopAtLevel=1", "-cp", f"{self.jars()}/*"]

    @staticmethod
    def jars() -> Path:
        """Return the folder of jars. Its name contains a hash of the pom."""
        digest = hashlib.sha256((_HERE / "neo4j" / "pom.xml").read_bytes()).hexdigest()[:12]
        return Path(tempfile.gettempdir()) / f"dqa-neo4j-{digest}-{os.geteuid()}"


ENGINES: dict[str, Engine] = {engine.name: engine for engine in (MariaDB(), Postgres(), Neo4j())}


def prepare(names: list[str]) -> None:
    """Install the packages of the named servers. Only one process at a time does this."""
    with locked(_HERE):
        for name in names:
            ENGINES[name].prepare()


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _required(name: str) -> str:
    found = program(name)
    if found is None:
        raise ServerError(f"the program {name} is missing, although its package is installed")
    return found


def _succeeds(command: list[str], **environment: str) -> bool:
    """Return whether a client succeeds. The environment with its password is private."""
    done = subprocess.run(  # noqa: S603 - commands of ours, no shell
        command,
        env={"PATH": PROGRAM_FOLDERS, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    return done.returncode == 0


def _java() -> str | None:
    home = os.environ.get("JAVA_HOME")
    return (shutil.which("java", path=f"{home}/bin") if home else None) or program("java")


def _java_version() -> int:
    """Return the major version of the installed Java; 0 if there is none."""
    java = _java()
    if java is None:
        return 0
    output = run([java, "-version"], what="asking Java for its version")
    found = re.search(r'version "(?:1\.)?(\d+)', output)
    return int(found[1]) if found else 0
