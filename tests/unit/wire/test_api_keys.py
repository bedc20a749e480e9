import subprocess
import sys

import pytest

from barnabas.model.errors import LocalError
from barnabas.wire.api_keys import ApiKey, request_class, response_class
from barnabas.wire.messages.index import FLEXIBLE_FROM, MODULES


def test_every_key_has_both_classes():
    assert set(ApiKey) == MODULES.keys() == FLEXIBLE_FROM.keys()
    for key in ApiKey:
        words = [word.capitalize() for word in key.name.split("_")]
        name = "".join(words)
        assert request_class(key).__name__ == f"{name}Request"
        assert response_class(key).__name__ == f"{name}Response"
        assert request_class(key).API_KEY == response_class(key).API_KEY == key
        assert FLEXIBLE_FROM[key] == request_class(key).FLEXIBLE_FROM


def test_an_unknown_api_key_is_an_error():
    with pytest.raises(LocalError, match="API key 9999"):
        request_class(9999)


def test_message_modules_are_imported_on_first_use():
    code = (
        "import sys, barnabas.wire.api_keys, barnabas.wire.headers;"
        "print([m for m in sys.modules if m.startswith('barnabas.wire.messages.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['barnabas.wire.messages.index']"
