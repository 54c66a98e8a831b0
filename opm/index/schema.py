"""The tables of an SQLite index, as upstream's tool makes them at its migration 13. Pure.

What belongs to a bundle, a channel or a package goes with it: upstream's tool relies on that when
it removes something.
"""

VERSION = 13

_BUNDLE = (
    "FOREIGN KEY (operatorbundle_name, operatorbundle_version, operatorbundle_path)"
    " REFERENCES operatorbundle (name, version, bundlepath) ON DELETE CASCADE"
)
_OWNER = "operatorbundle_name TEXT, operatorbundle_version TEXT, operatorbundle_path TEXT"
_API = (
    "FOREIGN KEY (group_name, version, kind)"
    " REFERENCES api (group_name, version, kind) ON DELETE CASCADE"
)


def _of_apis(table: str) -> str:
    """A table of APIs by bundle; an API that no bundle has any more goes with the last."""
    same = " AND ".join(f"{column} = OLD.{column}" for column in ("group_name", "version", "kind"))
    return f"""
CREATE TABLE {table} (group_name TEXT, version TEXT, kind TEXT, {_OWNER},
  {_BUNDLE} DEFERRABLE INITIALLY DEFERRED, {_API});
CREATE TRIGGER {table}_cleanup AFTER DELETE ON {table}
WHEN NOT EXISTS (SELECT 1 FROM api_provider WHERE {same})
  AND NOT EXISTS (SELECT 1 FROM api_requirer WHERE {same})
BEGIN DELETE FROM api WHERE {same}; END;
"""  # noqa: S608 - names of ours


TABLES = f"""
CREATE TABLE operatorbundle (name TEXT PRIMARY KEY, csv TEXT, bundle TEXT, bundlepath TEXT,
  skiprange TEXT, version TEXT, replaces TEXT, skips TEXT, substitutesfor TEXT);
CREATE UNIQUE INDEX pk ON operatorbundle (name, version, bundlepath);
CREATE TABLE package (name TEXT PRIMARY KEY, default_channel TEXT,
  FOREIGN KEY (name, default_channel) REFERENCES channel (package_name, name) ON DELETE CASCADE);
CREATE TABLE channel (name TEXT, package_name TEXT, head_operatorbundle_name TEXT,
  PRIMARY KEY (name, package_name),
  FOREIGN KEY (head_operatorbundle_name) REFERENCES operatorbundle (name) ON DELETE CASCADE);
CREATE TABLE channel_entry (entry_id INTEGER PRIMARY KEY, channel_name TEXT, package_name TEXT,
  operatorbundle_name TEXT, replaces INTEGER, depth INTEGER,
  FOREIGN KEY (replaces) REFERENCES channel_entry (entry_id) DEFERRABLE INITIALLY DEFERRED,
  FOREIGN KEY (channel_name, package_name)
    REFERENCES channel (name, package_name) ON DELETE CASCADE);
CREATE TABLE related_image (image TEXT, operatorbundle_name TEXT,
  FOREIGN KEY (operatorbundle_name) REFERENCES operatorbundle (name) ON DELETE CASCADE);
CREATE TABLE properties (type TEXT, value TEXT, {_OWNER}, {_BUNDLE});
CREATE TABLE dependencies (type TEXT, value TEXT, {_OWNER}, {_BUNDLE});
CREATE TABLE api (group_name TEXT, version TEXT, kind TEXT, plural TEXT NOT NULL,
  PRIMARY KEY (group_name, version, kind));
{_of_apis("api_provider")}{_of_apis("api_requirer")}
CREATE TABLE deprecated (operatorbundle_name TEXT PRIMARY KEY);
CREATE TABLE schema_migrations (version bigint NOT NULL,
  timestamp DATETIME DEFAULT CURRENT_TIMESTAMP);
INSERT INTO schema_migrations (version) VALUES ({VERSION});
"""  # noqa: S608 - names of ours
