import pytest

from barnabas.security.scram_keys import saslprep


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("user", "user"),
        ("USER", "USER"),
        ("I\u00adX", "IX"),
        ("\u00aa", "a"),
        ("\u2168", "IX"),
        ("a\u00a0b", "a b"),
        ("", ""),
        ("\u0627\u0628", "\u0627\u0628"),
    ],
)
def test_examples_of_the_rfc(text: str, normal: str) -> None:
    assert saslprep(text) == normal


@pytest.mark.parametrize("text", ["\u0007", "\u0627\u0031", "a\u0627", "\ue000", "\u0221", "a\nb"])
def test_forbidden_characters_are_rejected(text: str) -> None:
    with pytest.raises(ValueError, match=r"SASLprep|direction"):
        saslprep(text)
