"""Turns the message declarations in `schemas/` into `src/barnabas/wire/messages/`.

Run `python -m codegen` after changing a declaration; `--check` only says whether that was done.
"""
