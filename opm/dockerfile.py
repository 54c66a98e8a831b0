"""The Dockerfile of a catalog image, as the documents' build steps expect it. Pure."""

from collections.abc import Mapping

from olm_content.names import LABEL_INDEX_CONFIGS

DEFAULT_IMAGE = "quay.io/operator-framework/opm:latest"
CONFIGS, CACHE = "/configs", "/tmp/cache"  # noqa: S108 - paths in the image


def dockerfile(
    folder: str, *, base_image: str, builder_image: str, labels: Mapping[str, str]
) -> str:
    """The text, for a catalog folder next to the file."""
    lines = [
        "# Checks the catalog and prepares its cache; the image needs /bin/opm.",
        f"FROM {builder_image} as builder",
        f"ADD {folder} {CONFIGS}",
        f'RUN ["/bin/opm", "serve", "{CONFIGS}", "--cache-dir={CACHE}", "--cache-only"]',
        "",
        f"FROM {base_image}",
        *_start(base_image),
        "",
        f"COPY --from=builder {CONFIGS} {CONFIGS}",
        f"COPY --from=builder {CACHE} {CACHE}",
        "",
        "# Where readers of the image find the catalog.",
        f"LABEL {LABEL_INDEX_CONFIGS}={CONFIGS}",
    ]
    lines += [f'LABEL "{key}"="{value}"' for key, value in sorted(labels.items())]
    return "\n".join(lines) + "\n"


def _start(base_image: str) -> list[str]:
    if base_image == "scratch":
        return [
            "# Nothing runs in this image. A CatalogSource of OLM Classic that uses it needs",
            "# spec.grpcPodConfig.extractContent with:",
            f"#   catalogDir: {CONFIGS}",
            f"#   cacheDir: {CACHE}",
        ]
    return [
        "# The image needs /bin/opm and /bin/grpc_health_probe.",
        'ENTRYPOINT ["/bin/opm"]',
        f'CMD ["serve", "{CONFIGS}", "--cache-dir={CACHE}"]',
    ]
