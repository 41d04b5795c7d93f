"""The three kinds of servers: their packages, data folders, commands and URLs."""

import hashlib
import os
import signal
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from machine import ServerError, give, give_file, install, locked, program, run

USER = "dqa"
DATABASE = "dqa"
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
        return self.folder / "server.log"


class Engine:
    """One kind of server.

    Attributes
    ----------
    name, variable
        The name, and the environment variable from which the integration tests read the URL.
    url
        The URL with the user. ``{password}`` and ``{port}`` are replaced by the values of a server.
    programs, packages
        The required programs, and the Debian packages that contain them.
    ready
        The text that the server logs when it can run queries.
    stop_signal
        The signal that shuts the server down.
    """

    name: ClassVar[str]
    variable: ClassVar[str]
    url: ClassVar[str]
    programs: ClassVar[tuple[str, ...]]
    packages: ClassVar[tuple[str, ...]]
    ready: ClassVar[str]
    stop_signal: ClassVar[signal.Signals] = signal.SIGTERM

    def prepare(self) -> None:
        """Install missing packages."""
        if not all(map(self.find, self.programs)):
            install(self.packages, self.name)

    def find(self, name: str) -> str | None:
        """Return the file of a program; None if it is missing."""
        return program(name)

    def required(self, name: str) -> str:
        """Return the file of a program; raise `ServerError` if it is missing."""
        if found := self.find(name):
            return found
        raise ServerError(f"the program {name} is missing, although its package is installed")


class MariaDB(Engine):
    """MariaDB from Debian's core packages, which contain the programs but no service."""

    name = "mariadb"
    variable = "DQA_TEST_MYSQL_URL"
    url = f"mysql+pymysql://{USER}:{{password}}@127.0.0.1:{{port}}/{DATABASE}"
    programs = ("mariadbd", "mariadb-install-db", "my_print_defaults")
    packages = ("mariadb-server-core", "mariadb-client-core")
    ready = ": ready for connections."

    def create(self, site: Site) -> None:
        """Create the data folder with a user and a database."""
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
            "innodb-log-file-size": "32M",
            # The data survive a crash of the server, but not a crash of the machine.
            "innodb-flush-method": "nosync",
            "innodb-flush-log-at-trx-commit": 2,
            "innodb-doublewrite": 0,
            "innodb-file-per-table": 0,  # each new file would be synced, despite nosync
            "debug-no-sync": 1,
        }
        lines = (f"{key}={value}" for key, value in settings.items())
        give_file(site.home / "my.cnf", "\n".join(["[mariadbd]", *lines, ""]))
        for folder in ("data", "tmp"):
            (site.home / folder).mkdir()
            give(site.home / folder, 0o700)
        options = ["--auth-root-authentication-method=socket", "--skip-test-db"]
        command = [self.required("mariadb-install-db"), self._defaults(site), *options]
        run(command, what="creating MariaDB's system tables", home=site.home)
        run(
            [*self.command(site), "--bootstrap"],
            what="creating MariaDB's user",
            home=site.home,
            text=f"FLUSH PRIVILEGES;\nCREATE DATABASE {DATABASE};\n"
            f"CREATE USER {USER}@'%' IDENTIFIED BY '{site.password}';\n"
            f"GRANT ALL PRIVILEGES ON *.* TO {USER}@'%' WITH GRANT OPTION;\n",
        )

    def command(self, site: Site) -> list[str]:
        """Return the command that runs the server in the foreground."""
        return [self.required("mariadbd"), self._defaults(site)]

    @staticmethod
    def _defaults(site: Site) -> str:
        return f"--defaults-file={site.home / 'my.cnf'}"


class Postgres(Engine):
    """PostgreSQL from Debian's package, with its own data folder (cluster)."""

    name = "postgres"
    variable = "DQA_TEST_POSTGRES_URL"
    url = f"postgresql+psycopg://{USER}:{{password}}@127.0.0.1:{{port}}/{DATABASE}"
    programs = ("initdb", "postgres")
    packages = ("postgresql",)
    ready = "database system is ready to accept connections"
    stop_signal = signal.SIGINT  # "fast" shutdown, which does not wait for clients

    def create(self, site: Site) -> None:
        """Create the data folder with a user and a database."""
        data = site.home / "data"
        command = [self.required("initdb"), "--pgdata", str(data), "--username", USER]
        options = ["--encoding=UTF8", "--locale=C", "--auth=trust", "--no-sync"]
        run([*command, *options], what="creating PostgreSQL's data folder", home=site.home)
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
            [self.required("postgres"), "--single", "-D", str(data), "postgres"],
            what="creating PostgreSQL's user",
            home=site.home,
            text=f"ALTER ROLE {USER} PASSWORD '{site.password}'\nCREATE DATABASE {DATABASE}\n",
        )

    def command(self, site: Site) -> list[str]:
        """Return the command that runs the server in the foreground."""
        return [self.required("postgres"), "-D", str(site.home / "data")]

    def find(self, name: str) -> str | None:
        """Find a program of the newest version in Debian's folders, which are not in PATH."""
        folders = Path("/usr/lib/postgresql").glob("*/bin")
        return program(name, *sorted(folders, key=lambda f: float(f.parent.name), reverse=True))


class Neo4j(Engine):
    """Neo4j Community from the Maven artefacts in ``neo4j/pom.xml``. It needs Java 17 or later."""

    name = "neo4j"
    variable = "DQA_TEST_NEO4J_URL"
    url = "bolt://neo4j:{password}@127.0.0.1:{port}"
    ready = " Started."

    def prepare(self) -> None:
        """Install Java, and download Neo4j."""
        if self.find("java") is None:
            install(["default-jre-headless"], "Java")
        target = self.jars()
        if target.is_dir():
            if target.stat().st_uid != os.geteuid():
                raise ServerError(f"the folder {target} belongs to another user: remove it")
            return
        if self.find("mvn") is None:
            install(["maven"], "Maven")
        # Download into a temporary folder, and rename it when complete.
        with tempfile.TemporaryDirectory(dir=target.parent, prefix="dqa-neo4j-") as scratch:
            jars = Path(scratch) / "jars"
            jars.mkdir()
            goal = [f"{_MAVEN_PLUGIN}:copy-dependencies", f"-DoutputDirectory={jars}"]
            options = ["--batch-mode", "--quiet", "--no-transfer-progress"]
            run(
                [self.required("mvn"), *options, "--file", _HERE / "neo4j" / "pom.xml", *goal],
                what="downloading Neo4j with Maven",
                timeout=1200.0,
            )
            jars.rename(target)

    def create(self, site: Site) -> None:
        """Create the folders, the settings and the password."""
        for name in ("conf", "data", "import", "logs"):
            (site.home / name).mkdir()
            give(site.home / name, 0o700)
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
            # Tests with wrong passwords must not lock out other tests.
            "dbms.security.auth_max_failed_attempts": "0",
            # Without this setting, a stopping server waits for further clients, twice for 5 s.
            "internal.dbms.bolt.netty_server_shutdown_quiet_period": "0",
        }
        lines = (f"{key}={value}\n" for key, value in settings.items())
        give_file(site.home / "conf" / "neo4j.conf", "".join(lines))
        arguments = give_file(
            site.home / "arguments", f"dbms\nset-initial-password\n{site.password}\n"
        )
        home = {"NEO4J_HOME": str(site.home), "NEO4J_CONF": str(site.home / "conf")}
        command = [*self._java(), "org.neo4j.cli.AdminTool", f"@{arguments}"]
        run(command, what="setting Neo4j's password", home=site.home, environment=home)
        arguments.unlink()

    def command(self, site: Site) -> list[str]:
        """Return the command that runs the server in the foreground."""
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

    def _java(self) -> list[str]:
        # If a server runs only briefly, the optimising compiler takes more time than it saves.
        return [self.required("java"), "-XX:TieredStopAtLevel=1", "-cp", f"{self.jars()}/*"]

    @staticmethod
    def jars() -> Path:
        """Return the folder of jars. Its name contains a hash of the pom."""
        digest = hashlib.sha256((_HERE / "neo4j" / "pom.xml").read_bytes()).hexdigest()[:12]
        return Path(tempfile.gettempdir()) / f"dqa-neo4j-{digest}-{os.geteuid()}"


ENGINES: dict[str, MariaDB | Postgres | Neo4j] = {
    engine.name: engine for engine in (MariaDB(), Postgres(), Neo4j())
}


def prepare(names: list[str]) -> None:
    """Install the packages of the named servers. Only one process at a time does this."""
    with locked(_HERE):
        for name in names:
            ENGINES[name].prepare()
