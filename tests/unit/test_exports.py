"""The public names exist, and their modules are imported at the first use."""

import subprocess
import sys

import pytest

import barnabas


def test_every_public_name_is_there():
    for name in barnabas.__all__:
        assert getattr(barnabas, name).__name__ == name


def test_the_lists_agree():
    assert set(barnabas.__all__) == set(barnabas._MODULE_OF)


def test_importing_the_package_loads_no_client():
    code = "import sys, barnabas; sys.exit(any('clients' in name for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_unknown_name_is_an_attribute_error():
    assert not hasattr(barnabas, "Prodcer")


@pytest.mark.parametrize("module", ["barnabas.streams", "barnabas.cli.nouns.pipeline_run"])
def test_definitions_and_checks_of_pipelines_do_not_import_spark(module):
    code = f"import sys, {module}; sys.exit('pyspark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
