"""The file of a store: opened and understood, or refused with a diagnostic and left as it is.

In: a path.  Out: a connection to an SQLite database of this version.  A file of another version, of another program,
cut short, or locked is never written to.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from comprehensive.diagnostics import CommandLineError

VERSION = 2
"""The version of the tables below."""
APPLICATION = 0x43465455
"""The number in the head of the file that tells our database from another program's: CFTU."""
LOCK_TIMEOUT_S = 10.0
_MAGIC = b"SQLite format 3\0"
TABLES = """
CREATE TABLE IF NOT EXISTS subjects (
  id INTEGER PRIMARY KEY,
  source TEXT NOT NULL,
  tool TEXT NOT NULL,
  options TEXT NOT NULL,
  device TEXT NOT NULL,
  compute_capability TEXT NOT NULL,
  driver TEXT NOT NULL,
  UNIQUE (source, tool, options, device, compute_capability, driver)
);
CREATE TABLE IF NOT EXISTS results (
  id INTEGER PRIMARY KEY,
  subject INTEGER NOT NULL REFERENCES subjects (id),
  function TEXT NOT NULL,
  sizes TEXT NOT NULL,
  candidate TEXT NOT NULL,
  parameters TEXT NOT NULL,
  pipeline TEXT NOT NULL,
  status TEXT NOT NULL,
  reason TEXT NOT NULL,
  verified TEXT NOT NULL,
  leaf INTEGER,
  times_us TEXT NOT NULL,
  median_us REAL,
  launches INTEGER,
  registers INTEGER,
  spill_bytes INTEGER,
  measured_at TEXT NOT NULL,
  measured_on TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS results_by_candidate ON results (subject, function, sizes, candidate);
CREATE TABLE IF NOT EXISTS observations (
  id INTEGER PRIMARY KEY,
  source TEXT NOT NULL,
  function TEXT NOT NULL,
  device TEXT NOT NULL,
  sizes TEXT NOT NULL,
  parameters TEXT NOT NULL,
  leaf INTEGER NOT NULL,
  pipeline TEXT NOT NULL,
  microseconds REAL NOT NULL,
  log TEXT NOT NULL,
  occurrence INTEGER NOT NULL,
  UNIQUE (source, function, device, sizes, parameters, leaf, pipeline, microseconds, log, occurrence)
);
"""


def open_database(path: Path, lock_timeout_s: float = LOCK_TIMEOUT_S) -> sqlite3.Connection:
    """The database, made where there is no file yet.

    Raises CommandLineError: CF0911 for another version, CF0912 for a file of another kind, CF0913 for a damaged one,
    CF0914 for a locked one, CF0915 where it cannot be read or written.
    """
    with diagnosed(path):
        if not path.parent.is_dir():
            path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            with path.open("rb") as file:
                head = file.read(len(_MAGIC))
            if head and head != _MAGIC:
                raise _foreign(path)
        connection = sqlite3.connect(path, timeout=lock_timeout_s, isolation_level=None)
        try:
            _demand_ours(path, connection)
        except BaseException:
            connection.close()
            raise
    return connection


def _demand_ours(path: Path, connection: sqlite3.Connection) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if (application, version, tables) == (0, 0, 0):
        # One transaction: another process sees all of it or nothing, and so does the next one after a crash.
        numbers = f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};"
        connection.executescript(f"BEGIN IMMEDIATE; {numbers} {TABLES} COMMIT;")
        return
    if application != APPLICATION:
        raise _foreign(path)
    if version != VERSION:
        raise CommandLineError.of(
            "CF0911",
            f"the tuning database {path} has version {version}, this tool reads version {VERSION}",
            help=f"name another file with --store, or use the tool that has written it; {path.name} is left as it is",
        )
    (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok":
        raise sqlite3.DatabaseError(verdict)


@contextmanager
def diagnosed(path: Path) -> Generator[None]:
    """Errors of SQLite and of the file system as diagnostics."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if "locked" in str(error) or "busy" in str(error):
            raise CommandLineError.of(
                "CF0914",
                f"the tuning database {path} is locked by another process",
                help="wait until that one ends, or name another file with --store; what was stored before is kept",
            ) from error
        raise _unusable(path, str(error)) from error
    except sqlite3.DatabaseError as error:
        raise CommandLineError.of(
            "CF0913",
            f"the tuning database {path} is damaged: {error}",
            help=f"name another file with --store; {path.name} is left as it is, and "
            f"`sqlite3 {path.name} .recover` gives back what is whole in it",
        ) from error
    except OSError as error:
        raise _unusable(path, error.strerror or str(error)) from error


def _foreign(path: Path) -> CommandLineError:
    return CommandLineError.of(
        "CF0912",
        f"{path} is no tuning database",
        help="name another file with --store; this one is left as it is",
    )


def _unusable(path: Path, words: str) -> CommandLineError:
    return CommandLineError.of(
        "CF0915",
        f"the tuning database {path} cannot be used: {words}",
        help="name a file that you may write, on a disk with room, with --store; what was stored before is kept",
    )
