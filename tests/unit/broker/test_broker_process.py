import stat
import sys

from barnabas.broker.broker_process import BrokerEndedError, BrokerProcess


def test_the_last_line_of_a_broker():
    error = BrokerEndedError(1, 1, "INFO connecting\nbarnabas broker: port 9092 is taken\n\n")
    assert error.last_line == "port 9092 is taken"
    assert "INFO connecting" in str(error)
    assert BrokerEndedError(1, -9, "").last_line == "ended with -9"


def test_other_users_cannot_read_the_configuration_and_the_log(tmp_path):
    (tmp_path / "broker-1.properties").write_text("of an earlier run")
    process = BrokerProcess(1, tmp_path, {"ssl.key.password": "secret"})
    process.program = [sys.executable, "-c", "pass"]
    process.launch()
    process.kill()
    for name in ("broker-1.properties", "broker-1.log"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
    assert "ssl.key.password=secret" in (tmp_path / "broker-1.properties").read_text()
