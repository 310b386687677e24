"""SQL on real servers of PostgreSQL and MariaDB, which the tests start on a socket in a temporary folder."""

import contextlib
import datetime
import glob
import itertools
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np
import pandas as pd
import pytest

from boxwood.render.forms.dialects import DIALECTS
from tests.explanation.test_ages import case, day_after, later
from tests.explanation.test_calendar import explained
from tests.explanation.test_dates import dated
from tests.explanation.test_drift import agrees, odd_case
from tests.render.test_every_engine import Engine, arrow_table, as_sql, check, finite_singles
from tests.rule_cases import COLUMNS, KINDS, odd_doubles
from tests.scale import law

pytestmark = pytest.mark.servers


def program(name):
    """Return the path of a server's program; Debian keeps those of PostgreSQL apart."""
    found = shutil.which(name) or max(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"), default=None)
    assert found, f"{name} is not installed; on Debian: apt-get install postgresql mariadb-server"
    return os.path.realpath(found)


def as_somebody():
    """Return what stands before a command so that it does not run as root, which servers refuse."""
    if os.getuid():
        return []
    nobody = pwd.getpwnam("nobody")
    return ["setpriv", f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups"]


@contextlib.contextmanager
def folder_of_server():
    """Yield a folder with a short name, as sockets need, that belongs to who runs the server."""
    with tempfile.TemporaryDirectory(prefix="bw-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        if not os.getuid():
            nobody = pwd.getpwnam("nobody")
            os.chown(folder, nobody.pw_uid, nobody.pw_gid)
        yield folder


@contextlib.contextmanager
def running(command, folder, connect):
    """Yield a connection to a server that runs until the block ends."""
    with open(os.path.join(folder, "log"), "w+") as log:
        server = subprocess.Popen([*as_somebody(), *command], stdout=log, stderr=log, cwd=folder)
        try:
            yield connected(server, connect, log)
        finally:
            server.terminate()
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def connected(server, connect, log):
    import psycopg
    import pymysql

    until = time.monotonic() + 60
    while True:
        try:
            return connect()
        except (psycopg.OperationalError, pymysql.err.OperationalError) as error:
            if server.poll() is not None or time.monotonic() > until:
                log.seek(0)
                raise AssertionError(f"the server does not answer: {error}\n{log.read()[-2000:]}") from None
            time.sleep(0.1)


def run(command, folder):
    done = subprocess.run([*as_somebody(), *command], cwd=folder, capture_output=True, text=True)
    assert not done.returncode, done.stdout[-2000:] + done.stderr[-2000:]


@pytest.fixture(scope="module")
def postgres():
    import psycopg

    with folder_of_server() as folder:
        data = os.path.join(folder, "data")
        options = ["--auth=trust", "--username=boxwood", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync"]
        run([program("initdb"), "-D", data, *options], folder)
        command = [program("postgres"), "-D", data, "-k", folder, "-c", "listen_addresses=", "-c", "fsync=off"]

        def connect():
            return psycopg.connect(host=folder, user="boxwood", dbname="postgres", autocommit=True)

        with running(command, folder, connect) as connection, connection:
            yield connection


@pytest.fixture(scope="module")
def mariadb():
    import pymysql

    with folder_of_server() as folder:
        data, socket = os.path.join(folder, "data"), os.path.join(folder, "s")
        options = ["--no-defaults", f"--datadir={data}"]
        install = ["mariadb-install-db", *options, "--auth-root-authentication-method=normal", "--skip-test-db"]
        run([program(install[0]), *install[1:]], folder)
        server = [program("mariadbd"), *options, f"--socket={socket}", "--skip-networking", f"--pid-file={folder}/pid"]
        # the engine's own defaults: text compares without case, and spaces at the end do not count
        command = [*server, "--character-set-server=utf8mb4", "--collation-server=utf8mb4_general_ci"]

        def connect():
            if not os.path.exists(socket):  # a connection that fails leaves its own socket open
                raise pymysql.err.OperationalError("no socket yet")
            return pymysql.connect(unix_socket=socket, user="root", charset="utf8mb4", autocommit=True)

        with running(command, folder, connect) as connection, contextlib.closing(connection):
            connection.cursor().execute("CREATE DATABASE shop")
            connection.select_db("shop")
            yield connection


def by_postgres(postgres):
    """Return the engine; every second missing number is NaN."""
    name = DIALECTS["postgres"]().name

    def labels(ex, folder, columns):
        declared = ", ".join(f"{name(column)} {kind.postgres}" for column, kind in KINDS.items())
        postgres.execute("DROP TABLE IF EXISTS t")
        postgres.execute(f"CREATE TABLE t (i SERIAL, {declared})")
        with postgres.cursor().copy(f"COPY t ({', '.join(map(name, COLUMNS))}) FROM STDIN") as copy:
            for row in zip(*(column.to_pylist() for column in arrow_table(columns).columns), strict=True):
                copy.write_row(row)
        query = postgres.execute(as_sql(ex, "postgres", table="public.t"))
        assert [column.name for column in query.description] == ["i", *COLUMNS, "cluster"]
        return [row[-1] for row in sorted(query.fetchall(), key=lambda row: row[0])]

    return Engine(labels)


def by_mariadb(mariadb):
    """Return the engine, which has no infinity and no NaN."""
    name = DIALECTS["mysql"]().name

    def labels(ex, folder, columns):
        declared = ", ".join(f"{name(column)} {kind.mariadb}" for column, kind in KINDS.items())
        cursor, places = mariadb.cursor(), ", ".join(["%s"] * (len(COLUMNS) + 1))
        cursor.execute("DROP TABLE IF EXISTS t")
        cursor.execute(f"CREATE TABLE t (i INTEGER PRIMARY KEY, {declared})")
        cursor.executemany(f"INSERT INTO t VALUES ({places})", list(zip(range(10**9), *columns, strict=False)))
        cursor.execute(as_sql(ex, "mysql", table="shop.t"))
        assert [column[0] for column in cursor.description] == ["i", *COLUMNS, "cluster"]
        return [row[-1] for row in sorted(cursor.fetchall(), key=lambda row: row[0])]

    return Engine(labels, finite_singles)


SERVERS = {"postgres": by_postgres, "mariadb": by_mariadb}


@pytest.mark.parametrize("server", SERVERS)
def test_rows_get_the_same_cluster_or_none(request, server, tmp_path):
    check(SERVERS[server](request.getfixturevalue(server)), tmp_path)


@law(6)
def test_postgres_counts_what_python_counts(seed, postgres):
    ex, table = odd_case(seed)
    columns = [[None if x != x else x for x in column.to_pylist()] for column in table.columns]
    by_postgres(postgres).labels(ex, None, columns)  # makes the table
    agrees(postgres.execute(ex.monitoring_sql("postgres", "public.t")).fetchall(), ex.drift(table))


@pytest.mark.parametrize(("server", "cast"), [("postgres", "CAST({} AS DOUBLE PRECISION)"), ("mariadb", "{} + 0e0")])
def test_thresholds_are_read_exactly(request, server, cast):
    cursor = request.getfixturevalue(server).cursor()
    dialect = DIALECTS["mysql" if server == "mariadb" else server]()
    numbers = odd_doubles(np.random.default_rng(0), 30_000)
    numbers = [x for x in numbers if abs(x) >= sys.float_info.min or not x]
    for start in range(0, len(numbers), 1000):
        part = numbers[start : start + 1000]
        cursor.execute(f"SELECT {', '.join(cast.format(dialect.end(x, '')) for x in part)}")
        assert list(map(float, cursor.fetchone())) == part


TYPES = {  # of the columns of dates: without a time zone, in whole days, and with one
    "postgres": ("TIMESTAMP", "DATE", "TIMESTAMPTZ"),
    "mariadb": ("DATETIME(6)", "DATE", "DATETIME(6)"),  # of one with a time zone in UTC, as it knows none
}
ELSEWHERE = {"postgres": "SET TIME ZONE 'America/New_York'", "mariadb": "SET time_zone = '-05:00'"}


@pytest.mark.parametrize("in_days", [False, True], ids=["moments", "days"])
@pytest.mark.parametrize("zone", ["", "Europe/Vienna"])
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("server", SERVERS)
def test_rows_with_dates_get_the_same_cluster_or_none(request, server, gaps, zone, in_days):
    ex, rows, wanted = dated(gaps, zone)
    plain, days, zoned = TYPES[server]
    if in_days:
        is_whole = [row["joined"] is None or row["joined"].time() == datetime.time() for row in rows]
        rows, wanted = (list(itertools.compress(each, is_whole)) for each in (rows, wanted))
    cursor = request.getfixturevalue(server).cursor()
    cursor.execute(ELSEWHERE[server])
    cursor.execute("DROP TABLE IF EXISTS d")
    joined, last = days if in_days else plain, zoned if zone else plain
    cursor.execute(f"CREATE TABLE d (i INTEGER, age {KINDS[COLUMNS[0]].postgres}, joined {joined}, last {last})")
    values = [(i, *row.values()) for i, row in enumerate(rows)]
    cursor.executemany("INSERT INTO d VALUES (%s, %s, %s, %s)", values)
    cursor.execute(as_sql(ex, "mysql" if server == "mariadb" else server, table="d"))
    found = [row[-1] for row in sorted(cursor.fetchall(), key=lambda row: row[0])]
    assert found == wanted
    assert {*found} >= {"new", "gone"}


@law(40)
def test_postgres_knows_all_dates_and_truths_with_gaps(seed, postgres):
    ex, rows, known, _ = explained(seed)
    postgres.execute("DROP TABLE IF EXISTS t; SET TimeZone = 'UTC'")
    zoned = "TIMESTAMPTZ" if ex._date_columns and ex._date_columns[0].zone else "TIMESTAMP"
    postgres.execute(f"CREATE TABLE t (i SERIAL, at {zoned}, member BOOLEAN, x DOUBLE PRECISION)")
    with postgres.cursor().copy("COPY t (at, member, x) FROM STDIN") as copy:
        for row in rows:
            copy.write_row([row["at"], row["member"], row["x"]])
    found = postgres.execute(f"SELECT {as_sql(ex, 'postgres')} FROM t ORDER BY i").fetchall()
    assert [label for (label,) in found] == known


@law(40)
def test_postgres_reads_dates_and_truths_that_stand_as_text(seed, postgres):
    ex, rows, known, _ = explained(seed)
    postgres.execute("DROP TABLE IF EXISTS t; SET TimeZone = 'UTC'")
    postgres.execute("CREATE TABLE t (i SERIAL, at TEXT, member TEXT, x DOUBLE PRECISION)")
    with postgres.cursor().copy("COPY t (at, member, x) FROM STDIN") as copy:
        for row in rows:
            at, member = row["at"], row["member"]
            texts = None if at is None else at.isoformat(), None if member is None else str(member).lower()
            copy.write_row([*texts, row["x"]])
    case = as_sql(ex, "postgres", types={"at": "TEXT", "member": "TEXT"})
    found = postgres.execute(f"SELECT {case} FROM t ORDER BY i").fetchall()
    assert [label for (label,) in found] == known


@law(6)
def test_ages_are_counted_from_the_day_of_the_server(seed, postgres, mariadb):
    """Dates that all moved, as of as many days later, of the clock of the server, and of a column."""
    ex, table, day, wanted = case(seed)
    is_local = not any(one.zone for _, one in ex.details.dates)
    postgres.execute("SET TimeZone = 'UTC'")  # other tests leave their zones, where it may be another day
    mariadb.cursor().execute("SET time_zone = '+00:00'")
    days = (datetime.datetime.now(datetime.UTC).date() - datetime.date.fromisoformat(day)).days
    for by, as_of in ((days, None), (days, "CURRENT_DATE"), (1 + 97 * seed, "day"), (1 + 97 * seed, "column")):
        moved, on = later(table, by), day_after(day, by)
        given = {"day": on, "column": "taken"}.get(as_of, as_of)
        if as_of == "column" and not is_local:
            continue  # which is refused
        found = _labelled(postgres, "postgres", ex, moved, on, given, "TIMESTAMP" if is_local else "TIMESTAMPTZ")
        assert found == wanted, as_of
        if is_local:
            assert _labelled(mariadb.cursor(), "mysql", ex, moved, on, given, "DATETIME(6)") == wanted, as_of


def _labelled(server, dialect, ex, table, taken, as_of, type):
    """Return the clusters of a table, of which each row was taken on a day, by SQL on a server."""
    quote = DIALECTS[dialect]().name
    server.execute("DROP TABLE IF EXISTS aged")
    columns = {"i": "INTEGER", **dict.fromkeys(("bought", "due"), type), "orders": "INTEGER", "taken": "DATE"}
    server.execute(f"CREATE TABLE aged ({', '.join(f'{quote(name)} {kind}' for name, kind in columns.items())})")
    moments = table[["bought", "due"]].astype(object)
    rows = [
        (i, *(None if x is pd.NaT else x.isoformat(" ") for x in both), int(orders), taken)
        for i, (both, orders) in enumerate(zip(moments.values.tolist(), table.orders, strict=True))
    ]
    for row in rows:
        server.execute("INSERT INTO aged VALUES (%s, %s, %s, %s, %s)", row)
    found = server.execute(f"SELECT {ex.to_sql(dialect, as_of=as_of, alias='cluster')} FROM aged ORDER BY i")
    return [row[0] for row in (found if dialect == "postgres" else server).fetchall()]
