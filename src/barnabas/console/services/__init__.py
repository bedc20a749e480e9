"""Use cases of the console, one module per subject, on the asyncio clients."""
