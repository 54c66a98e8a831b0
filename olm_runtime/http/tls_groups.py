"""Chooses the groups for key exchange of a TLS context, which Python cannot do before 3.15.

Until then OpenSSL itself is asked, at the pointer that CPython keeps first in a context. That is
done only for those who name curves on the command line.
"""

import _ssl
import ctypes
import logging
import ssl
from collections.abc import Callable, Sequence

from olm_runtime.errors import TerminalError

SSL_CTRL_SET_GROUPS_LIST = 92
"""openssl/ssl.h"""

log = logging.getLogger(__name__)


def set_groups(context: ssl.SSLContext, groups: Sequence[str]) -> None:
    """Allows these groups only, best first, in OpenSSL's names.

    Those that this OpenSSL does not know are left out with a warning. Raises TerminalError when
    none is left, or when groups cannot be chosen here.
    """
    choose = getattr(context, "set_groups", None) or _chooser(context)
    known = [group for group in groups if _is_known(choose, group)]
    if not known:
        raise TerminalError(
            f"{ssl.OPENSSL_VERSION} knows none of the TLS curves {', '.join(groups)}",
            hint="name another one with --tls-custom-curves",
        )
    if len(known) < len(groups):
        left_out = ", ".join(group for group in groups if group not in known)
        log.warning("%s does not know TLS curve %s", ssl.OPENSSL_VERSION, left_out)
    choose(":".join(known))


def _is_known(choose: Callable[[str], None], group: str) -> bool:
    try:
        choose(group)
    except ssl.SSLError:
        return False
    return True


def _chooser(context: ssl.SSLContext) -> Callable[[str], None]:
    try:
        control = ctypes.CDLL(_ssl.__file__).SSL_CTX_ctrl
    except (AttributeError, OSError) as error:
        raise TerminalError(
            "TLS curves cannot be chosen with this build of Python",
            hint="leave --tls-custom-curves out",
        ) from error
    control.argtypes = (ctypes.c_void_p, ctypes.c_int, ctypes.c_long, ctypes.c_char_p)
    control.restype = ctypes.c_long
    pointer = ctypes.c_void_p.from_address(id(context) + object.__basicsize__).value

    def choose(groups: str) -> None:
        if control(pointer, SSL_CTRL_SET_GROUPS_LIST, 0, groups.encode()) != 1:
            raise ssl.SSLError(f"unknown group in {groups}")

    return choose
