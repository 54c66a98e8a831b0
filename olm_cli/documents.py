"""Objects to apply, printed."""

import sys
from collections.abc import Sequence

from olm_cli.output import Format, Output, show, typed_names
from olm_client.rbac.manifests import commented
from olm_content.rights import Document


def show_documents(title: str, documents: Sequence[Document], output: Output) -> None:
    """Prints objects that are to be applied."""
    if output.format is Format.YAML:
        sys.stdout.write(commented(title, documents))
    else:
        objects = [document.obj for document in documents]
        listed = {"apiVersion": "v1", "kind": "List", "items": objects}
        show(listed, output, typed_names(objects))
