"""The Dockerfile of an SQLite index. Pure."""

DATABASE = "database/index.db"
DATABASE_LABELS = {"operators.operatorframework.io.index.database.v1": f"/{DATABASE}"}
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
