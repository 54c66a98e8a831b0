"""The Dockerfile of an SQLite index. Pure."""

from olm_content.names import LABEL_INDEX_DATABASE

DATABASE = "database/index.db"
DATABASE_LABELS = {LABEL_INDEX_DATABASE: f"/{DATABASE}"}
DEFAULT_BINARY_IMAGE = "quay.io/operator-framework/opm:latest"


def dockerfile(binary_image: str) -> str:
    """Its text; the image serves the database with the program of its base."""
    labels = "".join(f"LABEL {key}={value}\n" for key, value in DATABASE_LABELS.items())
    return (
        f"FROM {binary_image or DEFAULT_BINARY_IMAGE}\n"
        f"{labels}"
        f"ADD {DATABASE} /{DATABASE}\n"
        "EXPOSE 50051\n"
        'ENTRYPOINT ["/bin/opm"]\n'
        f'CMD ["registry", "serve", "--database", "/{DATABASE}"]\n'
    )
