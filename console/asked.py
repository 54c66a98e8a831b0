"""Who asks for a page, as its function takes it."""

from typing import Annotated

from fastapi import Depends, Request

from console.users import User


async def _user(request: Request) -> User:  # a plain function would be called in a thread
    found: User = request.state.user
    return found


AskedBy = Annotated[User, Depends(_user)]
"""The user of a request; `console.guard` has found them, or has answered itself."""
