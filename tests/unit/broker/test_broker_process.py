from barnabas.broker.broker_process import BrokerEndedError


def test_the_last_words_of_a_broker():
    error = BrokerEndedError(1, 1, "INFO connecting\nbarnabas broker: port 9092 is taken\n\n")
    assert error.last_words == "port 9092 is taken"
    assert "INFO connecting" in str(error)
    assert BrokerEndedError(1, -9, "").last_words == "ended with -9"
