"""SQLite catalogs for tests, written by hand in the schema of one version or another."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

NEWEST = """
CREATE TABLE operatorbundle (name TEXT PRIMARY KEY, csv TEXT, bundle TEXT, bundlepath TEXT,
  skiprange TEXT, version TEXT, replaces TEXT, skips TEXT, substitutesfor TEXT);
CREATE TABLE package (name TEXT PRIMARY KEY, default_channel TEXT);
CREATE TABLE channel (name TEXT, package_name TEXT, head_operatorbundle_name TEXT,
  PRIMARY KEY(name, package_name));
CREATE TABLE channel_entry (entry_id INTEGER PRIMARY KEY, channel_name TEXT, package_name TEXT,
  operatorbundle_name TEXT, replaces INTEGER, depth INTEGER);
CREATE TABLE related_image (image TEXT, operatorbundle_name TEXT);
CREATE TABLE properties (type TEXT, value TEXT, operatorbundle_name TEXT,
  operatorbundle_version TEXT, operatorbundle_path TEXT);
CREATE TABLE dependencies (type TEXT, value TEXT, operatorbundle_name TEXT,
  operatorbundle_version TEXT, operatorbundle_path TEXT);
CREATE TABLE api (group_name TEXT, version TEXT, kind TEXT, plural TEXT NOT NULL);
CREATE TABLE api_provider (group_name TEXT, version TEXT, kind TEXT, operatorbundle_name TEXT,
  operatorbundle_version TEXT, operatorbundle_path TEXT);
CREATE TABLE api_requirer (group_name TEXT, version TEXT, kind TEXT, operatorbundle_name TEXT,
  operatorbundle_version TEXT, operatorbundle_path TEXT);
CREATE TABLE deprecated (operatorbundle_name TEXT PRIMARY KEY);
CREATE TABLE schema_migrations (version bigint NOT NULL,
  timestamp DATETIME DEFAULT CURRENT_TIMESTAMP);
INSERT INTO schema_migrations(version) VALUES (13);
"""
OLDEST = """
CREATE TABLE operatorbundle (name TEXT PRIMARY KEY, csv TEXT UNIQUE, bundle TEXT);
CREATE TABLE package (name TEXT PRIMARY KEY, default_channel TEXT);
CREATE TABLE channel (name TEXT, package_name TEXT, head_operatorbundle_name TEXT);
CREATE TABLE channel_entry (entry_id INTEGER PRIMARY KEY, channel_name TEXT, package_name TEXT,
  operatorbundle_name TEXT, replaces INTEGER, depth INTEGER);
CREATE TABLE api_provider (group_name TEXT, version TEXT, kind TEXT, channel_entry_id INTEGER);
"""


class Database:
    """A catalog file, to which rows are added."""

    def __init__(self, path: Path, schema: str = NEWEST) -> None:
        self.path = path
        self.run(schema)

    def run(self, script: str) -> None:
        with closing(sqlite3.connect(self.path)) as connection:
            connection.executescript(f"PRAGMA synchronous = OFF; {script}")

    def add(self, table: str, **values: Any) -> None:
        with closing(sqlite3.connect(self.path)) as connection, connection:
            connection.execute("PRAGMA synchronous = OFF")
            names, marks = ", ".join(values), ", ".join("?" * len(values))
            connection.execute(
                f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(values.values())
            )

    def add_bundle(self, name: str, version: str, package: str = "hello", **values: Any) -> None:
        """A bundle with its olm.package property."""
        self.add(
            "operatorbundle",
            **{"name": name, "version": version, "bundlepath": f"example.com/{name}", **values},
        )
        self.add_property(name, "olm.package", {"packageName": package, "version": version})

    def add_property(self, bundle: str, kind: str, value: Any, table: str = "properties") -> None:
        self.add(table, type=kind, value=json.dumps(value), operatorbundle_name=bundle)

    def add_entry(
        self, number: int, channel: str, bundle: str, replaces: int | None = None, depth: int = 0
    ) -> None:
        self.add(
            "channel_entry",
            entry_id=number,
            channel_name=channel,
            package_name="hello",
            operatorbundle_name=bundle,
            replaces=replaces,
            depth=depth,
        )


def catalog(path: Path) -> Database:
    """Three bundles; the newest replaces the middle one and skips the oldest."""
    made = Database(path)
    made.add("package", name="hello", default_channel="stable")
    made.add("channel", name="stable", package_name="hello", head_operatorbundle_name="hello.v3")
    icon = {"base64data": "PHN2 Zy8+", "mediatype": "image/svg+xml"}
    csv = {
        "kind": "ClusterServiceVersion",
        "apiVersion": "operators.coreos.com/v1alpha1",
        "metadata": {"name": "hello.v3"},
        "spec": {"icon": [icon], "relatedImages": [{"name": "a", "image": "example.com/a"}]},
    }
    objects = json.dumps(csv, separators=(",", ":")) + '{"kind":"Secret","note":"\\u003c"}'
    made.add_bundle(
        *("hello.v3", "3.0.0"), bundle=objects.encode(), csv=json.dumps(csv), skiprange="<3.0.0"
    )
    made.add_bundle("hello.v2", "2.0.0")
    made.add_bundle("hello.v1", "1.0.0")
    made.add_entry(1, "stable", "hello.v3", 2, 0)
    made.add_entry(2, "stable", "hello.v2", 3, 1)
    made.add_entry(3, "stable", "hello.v1", None, 2)
    made.add_entry(4, "stable", "hello.v3", 5, 1)
    made.add_entry(5, "stable", "hello.v1", None, 2)
    widget = {"group": "example.com", "version": "v1", "kind": "Widget"}
    made.add_property("hello.v3", "olm.gvk", widget)
    made.add_property("hello.v3", "olm.gvk", widget)
    made.add_property("hello.v3", "olm.gvk", widget, "dependencies")
    made.add_property(
        "hello.v3", "olm.package", {"packageName": "db", "version": ">1"}, "dependencies"
    )
    for image in ("example.com/a", "example.com/z", "example.com/b"):
        made.add("related_image", image=image, operatorbundle_name="hello.v3")
    return made
