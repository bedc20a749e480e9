"""Generates `src/barnabas/wire/messages/` from the message declarations in `schemas/`.

Run `python -m codegen` after a change of a declaration; `--check` fails if modules are stale.
"""
