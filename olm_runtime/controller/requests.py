"""What is enqueued: the name of an object, as client-go writes the keys of its queues. Pure."""

from api.objects import KubeObject, name_of, namespace_of

Request = str
"""NAMESPACE/NAME, or NAME where the kind has no namespaces."""


def request_for(name: str, namespace: str = "") -> Request:
    """The request that names an object."""
    return f"{namespace}/{name}" if namespace else name


def request_of(obj: KubeObject) -> Request:
    """The request for an object."""
    return request_for(name_of(obj), namespace_of(obj))


def namespaced_name(request: Request) -> tuple[str, str]:
    """Namespace (empty for cluster-scoped kinds) and name."""
    namespace, _, name = request.rpartition("/")
    return namespace, name
