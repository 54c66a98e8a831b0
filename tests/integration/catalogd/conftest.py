"""catalogd alone, on a control plane of its own.

On the session's, two of it would write the status of one catalog.
"""

from tests.integration.clusters import own_control_plane

control_plane = own_control_plane("package")
