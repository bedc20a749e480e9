import pickle

from barnabas.streams.dsl import negated


def is_large(record):
    return record > 100


def test_an_expression_is_false_where_it_is_null():
    assert negated("amount > 5") == "not coalesce((amount > 5), false)"


def test_a_negated_function_can_be_pickled():
    small = pickle.loads(pickle.dumps(negated(len)))
    assert small("")
    assert not small("x")
    assert negated(is_large).__name__ == "not is_large"
    assert negated(is_large)(5)
