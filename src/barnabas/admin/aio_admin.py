"""The asyncio admin client under the name it has in `barnabas.aio`."""

from barnabas.admin.core import AsyncAdmin as Admin

__all__ = ["Admin"]
