"""What one user has read of a catalog is not another's by that."""

import pytest

from console.offers import check_readable
from console.users import User
from e2e.harness.controlplane import ControlPlane
from olm_client.catalogs.cluster import Served
from olm_client.reach import ClusterOptions, Reach
from olm_runtime.errors import TerminalError
from olm_runtime.kube.overrides import Overrides

pytestmark = pytest.mark.integration

INSIDE = Served("team", "sha256:0", "https://catalogd.olmv1-system.svc/catalogs/team", True)
OUTSIDE = Served("team", "sha256:0", "https://catalogs.example.com/catalogs/team", True)


async def test_a_catalog_is_for_those_who_may_ask_for_it(control_plane: ControlPlane) -> None:
    config = str(control_plane.kubeconfig)
    administrator = User.connect("me", ClusterOptions(Reach(config)))
    stranger = User.connect("you", ClusterOptions(Reach(config, Overrides(as_user="stranger"))))
    try:
        await check_readable(administrator, INSIDE)
        await check_readable(stranger, OUTSIDE)
        with pytest.raises(TerminalError, match='you may not read catalog "team"') as raised:
            await check_readable(stranger, INSIDE)
        assert "services/proxy in namespace olmv1-system" in raised.value.hint
    finally:
        await administrator.close()
        await stranger.close()
