"""Exports the asyncio admin client under its name in `barnabas.aio`."""

from barnabas.admin.core import AsyncAdmin as Admin

__all__ = ["Admin"]
