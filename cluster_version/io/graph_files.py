"""Graph data of files, for those that look for it again and again."""

import asyncio
from collections.abc import Mapping

from cluster_version.graph_data.errors import GraphDataError
from cluster_version.graph_data.files import GraphData, read_graph_data


class FilesReader:
    """Reads files that are new, and remembers what is wrong with them."""

    def __init__(self) -> None:
        self._fault: GraphDataError | None = None

    async def read(self, files: Mapping[str, bytes] | None) -> GraphData | None:
        """The data of files, by their paths; None where there is nothing new.

        Raises GraphDataError, of the same files again and again.
        """
        if files is not None:
            self._fault = None
            try:
                return await asyncio.to_thread(read_graph_data, files)
            except GraphDataError as error:
                self._fault = error
        if self._fault is not None:
            raise self._fault
        return None
