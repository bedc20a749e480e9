"""The public keys that bearer tokens are checked with: a JWKS from a file or a URL."""

import logging
import threading
import urllib.request
from pathlib import Path
from urllib.parse import unquote, urlsplit

from barnabas.model.clock import Clock
from barnabas.model.errors import ConfigError
from barnabas.security.jwt_tokens import Keys, parse_key_set

_logger = logging.getLogger("barnabas.broker")

_URL = "sasl.oauthbearer.jwks.endpoint.url"
_TIMEOUT_S = 10.0
_MAX_BYTES = 1024 * 1024
_UNKNOWN_KEY_MS = 10_000
"""Least time between two refreshes that tokens with unknown keys cause."""


class KeySet:
    """Read from the loop. A file is read again when it changed; a URL in a thread, so that the
    loop does not wait, when the set is old or lacks a key.
    """

    def __init__(self, url: str, refresh_ms: int, clock: Clock) -> None:
        """ConfigError when the keys cannot be had."""
        parts = urlsplit(url)
        if parts.scheme not in ("file", "http", "https"):
            raise ConfigError(f"{_URL}={url!r}: must begin with file:, http: or https:")
        self._url = url
        self._file = Path(unquote(parts.path)) if parts.scheme == "file" else None
        self._refresh_ms = refresh_ms
        self._clock = clock
        self._modified_ns = 0
        self._loading = threading.Lock()
        try:
            self._keys = self._load()
        except (OSError, ValueError) as error:
            raise ConfigError(f"{_URL}={url!r}: {error}") from None
        self._loaded_ms = clock.monotonic_ms()

    def keys(self, key_id: str | None) -> Keys:
        """The set in force; one that should have `key_id` may follow soon."""
        if self._file is not None:
            self._reread()
            return self._keys
        age_ms = self._clock.monotonic_ms() - self._loaded_ms
        missing = key_id is not None and key_id not in self._keys
        if age_ms >= (_UNKNOWN_KEY_MS if missing else self._refresh_ms):
            self._loaded_ms = self._clock.monotonic_ms()
            threading.Thread(target=self._refresh, name="jwks-refresh", daemon=True).start()
        return self._keys

    def _reread(self) -> None:
        assert self._file is not None
        try:
            if self._file.stat().st_mtime_ns != self._modified_ns:
                self._keys = self._load()
        except (OSError, ValueError) as error:
            _logger.warning("%s is not read again, the last keys stay: %s", self._url, error)

    def _refresh(self) -> None:
        with self._loading:
            try:
                self._keys = self._load()
            except (OSError, ValueError) as error:
                _logger.warning("%s is not read again, the last keys stay: %s", self._url, error)

    def _load(self) -> Keys:
        if self._file is not None:
            self._modified_ns = self._file.stat().st_mtime_ns
            return parse_key_set(self._file.read_text(encoding="utf-8"))
        with urllib.request.urlopen(self._url, timeout=_TIMEOUT_S) as answer:
            return parse_key_set(answer.read(_MAX_BYTES).decode())
