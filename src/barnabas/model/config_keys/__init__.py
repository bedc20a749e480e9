"""Tables of configuration keys, one module per component.

The tables of the clients are also imported on first use from here, for callers that need one of
them and must start fast.
"""

from typing import TYPE_CHECKING

from barnabas.model.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from barnabas.model.config_keys.client import ADMIN_KEYS, SIMPLE_KEYS
    from barnabas.model.config_keys.connector import CONNECTOR_KEYS
    from barnabas.model.config_keys.consumer import CONSUMER_KEYS
    from barnabas.model.config_keys.producer import PRODUCER_KEYS

_MODULE_OF = {
    "ADMIN_KEYS": "barnabas.model.config_keys.client",
    "CONNECTOR_KEYS": "barnabas.model.config_keys.connector",
    "CONSUMER_KEYS": "barnabas.model.config_keys.consumer",
    "PRODUCER_KEYS": "barnabas.model.config_keys.producer",
    "SIMPLE_KEYS": "barnabas.model.config_keys.client",
}

__all__ = ["ADMIN_KEYS", "CONNECTOR_KEYS", "CONSUMER_KEYS", "PRODUCER_KEYS", "SIMPLE_KEYS"]

__getattr__ = lazy_exports(__name__, _MODULE_OF)
