"""As whom `olm` writes, and how others apply what it prints without getting in its way. Pure."""

FIELD_MANAGER = "olm"

OF_KUBECTL = frozenset({"kubectl", "kubectl-client-side-apply"})
"""As whom kubectl applies what is piped into it without more ado."""

APPLY = f"kubectl apply --server-side --field-manager={FIELD_MANAGER} -f -"
"""What output of `olm` is piped into: as `olm` would have applied it."""
