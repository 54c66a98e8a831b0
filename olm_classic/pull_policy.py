"""When images are pulled that others have named. Pure."""


def pull_policy(image: str) -> str:
    """A tag may name other content tomorrow, a digest does not."""
    return "IfNotPresent" if "@" in image else "Always"
