"""Response headers: content security policy and the usual hardening headers.

The page frame of NiceGUI has inline scripts, so every page gets a fresh nonce; a script tag in a
record or a topic name has none and is not run. Vue compiles templates in the browser, which needs
'unsafe-eval'; 'unsafe-inline' for scripts is not allowed. Nothing is loaded from other hosts.
"""

import re
import secrets

_SCRIPT_TAG = re.compile(rb"<script(?=[\s>])")

FIXED_HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)


def new_nonce() -> str:
    return secrets.token_urlsafe(18)


def content_security_policy(nonce: str | None) -> bytes:
    """Returns the policy of a page, or of a response without scripts if there is no nonce."""
    scripts = f"'self' 'nonce-{nonce}' 'unsafe-eval'" if nonce else "'none'"
    return (
        f"default-src 'none'; script-src {scripts}; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data:; font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; "
        "frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
    ).encode()


def add_nonce(html: bytes, nonce: str) -> bytes:
    """Marks the script tags that the page frame itself has.

    Contents of the cluster are inside the last script as JSON text, where `<` is escaped.
    """
    return _SCRIPT_TAG.sub(f'<script nonce="{nonce}"'.encode(), html)
