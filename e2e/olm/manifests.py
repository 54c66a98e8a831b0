"""YAML as users apply it, for tests and the demo."""


def catalog(name: str, image: str) -> str:
    """A ClusterCatalog that is not polled."""
    return f"""
apiVersion: olm.operatorframework.io/v1
kind: ClusterCatalog
metadata: {{name: {name}}}
spec:
  source: {{type: Image, image: {{ref: "{image}"}}}}
"""


def extension(
    package: str, version: str = "", *, name: str = "", namespace: str = "", catalog: str = ""
) -> str:
    """A ClusterExtension, by default in the namespace of its own name.

    With `catalog` from that one only.
    """
    name = name or package
    label = "olm.operatorframework.io/metadata.name"
    desired = f"packageName: {package}"
    if version:
        desired += f', version: "{version}"'
    if catalog:
        desired += f", selector: {{matchLabels: {{{label}: {catalog}}}}}"
    return f"""
apiVersion: olm.operatorframework.io/v1
kind: ClusterExtension
metadata: {{name: {name}}}
spec:
  namespace: {namespace or name}
  serviceAccount: {{name: installer}}
  source:
    sourceType: Catalog
    catalog: {{{desired}}}
"""


def namespace(name: str) -> str:
    """A Namespace."""
    return f"""
apiVersion: v1
kind: Namespace
metadata: {{name: {name}}}
"""


def installer(name: str) -> str:
    """A service account in a namespace, and a binding that lets it do everything."""
    return service_account(name, "installer", role="cluster-admin", binding=f"{name}-installer")


def service_account(namespace: str, name: str, *, role: str = "", binding: str = "") -> str:
    """A service account, with a ClusterRole if one is named."""
    account = f"""
apiVersion: v1
kind: ServiceAccount
metadata: {{name: {name}, namespace: {namespace}}}
"""
    return account + "---" + granted(namespace, name, role, binding=binding) if role else account


def granted(namespace: str, account: str, role: str, *, binding: str = "") -> str:
    """A binding of a ClusterRole to a service account, by default of the account's name."""
    return f"""
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {{name: {binding or account}}}
roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {role}}}
subjects: [{{kind: ServiceAccount, name: {account}, namespace: {namespace}}}]
"""


def with_administrator(package: str, version: str = "", *, name: str = "") -> str:
    """An extension with its namespace and an account that may do everything."""
    name = name or package
    parts = (namespace(name), installer(name), extension(package, version, name=name))
    return "---".join(parts)
