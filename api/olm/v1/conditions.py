"""The words of conditions: types and reasons are part of the API, which scripts compare."""

from enum import StrEnum


class ConditionType(StrEnum):
    """Every type of condition of the published API, by kind."""

    PROGRESSING = "Progressing"  # all three kinds

    INSTALLED = "Installed"  # ClusterExtension
    DEPRECATED = "Deprecated"
    PACKAGE_DEPRECATED = "PackageDeprecated"
    CHANNEL_DEPRECATED = "ChannelDeprecated"
    BUNDLE_DEPRECATED = "BundleDeprecated"

    AVAILABLE = "Available"  # ClusterExtension and ClusterObjectSet

    SERVING = "Serving"  # ClusterCatalog
    REFRESHED = "Refreshed"  # once a refresh was requested

    SUCCEEDED = "Succeeded"  # ClusterObjectSet: set once, never taken back


class Reason(StrEnum):
    """Every reason of the published API, by the condition that it is first used with."""

    # Progressing, and what it has in common with others
    SUCCEEDED = "Succeeded"
    ROLLING_OUT = "RollingOut"
    RETRYING = "Retrying"
    BLOCKED = "Blocked"
    INVALID_CONFIGURATION = "InvalidConfiguration"
    PROGRESS_DEADLINE_EXCEEDED = "ProgressDeadlineExceeded"
    SUSPENDED = "Suspended"

    # Installed
    FAILED = "Failed"
    ABSENT = "Absent"

    # Deprecated and its three parts
    DEPRECATED = "Deprecated"
    NOT_DEPRECATED = "NotDeprecated"
    DEPRECATION_STATUS_UNKNOWN = "DeprecationStatusUnknown"

    # Serving
    AVAILABLE = "Available"
    UNAVAILABLE = "Unavailable"
    USER_SPECIFIED_UNAVAILABLE = "UserSpecifiedUnavailable"

    # Refreshed
    UPDATED = "Updated"
    UNCHANGED = "Unchanged"

    # Available
    PROBES_SUCCEEDED = "ProbesSucceeded"
    PROBE_FAILURE = "ProbeFailure"
    RECONCILING = "Reconciling"
    ARCHIVED = "Archived"
    MIGRATED = "Migrated"
