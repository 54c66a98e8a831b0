"""Which watched namespaces a bundle supports, as hints for the command line. Pure."""

from olm_content.bundle.configuration import WATCH_NAMESPACE, ConfigurationError
from olm_content.bundle.model import InstallMode, RegistryV1


def with_hint(
    error: ConfigurationError, bundle: RegistryV1, install_namespace: str
) -> ConfigurationError:
    """The error with a hint: the option to use instead."""
    if error.hint:
        return error
    about_watching = WATCH_NAMESPACE in error.message
    hint = _allowed(bundle, install_namespace) if about_watching else "see --config"
    return ConfigurationError(error.message, hint=hint)


def _allowed(bundle: RegistryV1, install_namespace: str) -> str:
    name, supports = bundle.csv.name, bundle.csv.supports
    own, single = supports(InstallMode.OWN_NAMESPACE), supports(InstallMode.SINGLE_NAMESPACE)
    everything = supports(InstallMode.ALL_NAMESPACES)
    if not own and not single:
        return f"{name} always watches all namespaces: leave --watch-namespace out"
    if own and single:
        choice = "say --watch-namespace NS"
    elif own:
        choice = f"say --watch-namespace {install_namespace}, its own"
    else:
        choice = f"say --watch-namespace NS, another than its own ({install_namespace})"
    otherwise = ", or leave it out to have all watched" if everything else ""
    return f"{name} can watch one namespace: {choice}{otherwise}"
