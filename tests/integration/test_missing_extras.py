"""Library calls that need an extra name it when it is not installed, as the commands do."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.integration

USES = {
    "pyarrow": ("from barnabas.records.arrow import take_arrow", "arrow"),
    "pyspark": ("from barnabas.spark import session", "spark"),
    "kazoo": ("from barnabas.zk import connect", "zookeeper"),
    "opentelemetry": (
        "from barnabas import Producer; Producer(bootstrap_servers='a:1', metric_reporters='otlp')",
        "otel",
    ),
}


@pytest.mark.parametrize("package", USES)
def test_the_error_names_the_extra(package):
    use, extra = USES[package]
    program = f"import sys; sys.modules[{package!r}] = None\n{use}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    last_line = done.stderr.splitlines()[-1]
    assert last_line.endswith(f"{package} is not installed: pip install 'barnabas[{extra}]'")


def test_programs_can_still_catch_the_import_error():
    program = (
        "import sys; sys.modules['pyspark'] = None\n"
        "try:\n    from barnabas.spark import session\n"
        "except ImportError as error:\n    print(error.name)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "pyspark\n", done.stderr
