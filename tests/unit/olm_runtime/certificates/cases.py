"""When and for whom certificates are issued in these tests."""

from datetime import UTC, datetime, timedelta

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LIFETIME = timedelta(days=90)
SETTLE = timedelta(minutes=5)
DNS_NAMES = ("op-service.install", "op-service.install.svc", "op-service.install.svc.cluster.local")
