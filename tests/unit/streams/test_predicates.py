import pickle

from barnabas.streams.predicates import negated


def is_large(record):
    return record > 100


def test_an_expression_is_false_where_it_is_null():
    assert negated("amount > 5") == "not coalesce((amount > 5), false)"


def test_a_function_goes_to_the_workers():
    small = pickle.loads(pickle.dumps(negated(len)))
    assert small("")
    assert not small("x")
    assert negated(is_large).__name__ == "not is_large"
    assert negated(is_large)(5)
