"""What programs load to pull images."""

import subprocess
import sys
from pathlib import Path

PULL = """
import asyncio, sys
from pathlib import Path
from olm_runtime.images.limits import BUNDLE_LIMITS
from olm_runtime.kube.cluster_access import ClusterAccess
from olm_runtime.kube.client import KubeClient
from olm_runtime.registry.errors import UnreachableError
from olm_runtime.registry.image_pulls import Pulls
from olm_runtime.registry.pull_secrets import PullSecrets

async def pull(cache):
    async with KubeClient.connect(ClusterAccess(server="https://127.0.0.1:1")) as client:
        secrets = PullSecrets.of_this_program(client, global_secret=None, prefix="test-")
        pulls = Pulls(
            client, secrets, cache=cache, namespace="n", cas_dir=None, limits=BUNDLE_LIMITS
        )
        try:
            await pulls.images.pull("127.0.0.1:1/a/b:c", owner="o")
        except UnreachableError:
            print([name for name in ("httpcore", "anyio") if name in sys.modules])
        finally:
            await pulls.close()

asyncio.run(pull(Path(sys.argv[1])))
"""


def test_no_second_implementation_of_http_is_loaded(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PULL, str(tmp_path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
