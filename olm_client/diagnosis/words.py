"""Numbers of things in words. Pure."""


def counted(number: int, one: str, many: str = "") -> str:
    """A number of things, such as `1 catalog` and `2 catalogs`."""
    return f"{number} {one if number == 1 else many or f'{one}s'}"
