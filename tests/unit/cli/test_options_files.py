import pytest

from barnabas.cli.framework.options import locked_directory
from barnabas.model.errors import LocalError


def test_a_directory_is_for_one_server_at_a_time(tmp_path):
    with locked_directory(tmp_path / "a" / "zookeeper") as directory:
        assert directory.is_dir()
        with (
            pytest.raises(LocalError, match="zookeeper is in use by another process"),
            locked_directory(directory),
        ):
            pass
    with locked_directory(directory):
        pass
