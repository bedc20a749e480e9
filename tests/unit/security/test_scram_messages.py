import pytest

from barnabas.security.mechanism import AuthenticationError
from barnabas.security.scram import (
    decode_name,
    encode_name,
    parse_client_final,
    parse_client_first,
    parse_server_final,
    parse_server_first,
)


@pytest.mark.parametrize("name", ["user", "a=b", "a,b", "=,=2C", "=3D"])
def test_names_round_trip(name: str) -> None:
    assert decode_name(encode_name(name)) == name


def test_the_first_message_of_a_client_is_parsed() -> None:
    message = parse_client_first(b"n,a=me,n=u=2Cser,r=abc,tokenauth=true")
    assert (message.gs2_header, message.authzid, message.user) == ("n,a=me,", "me", "u,ser")
    assert (message.nonce, message.bare) == ("abc", "n=u=2Cser,r=abc,tokenauth=true")
    assert message.extensions == {"tokenauth": "true"}


@pytest.mark.parametrize(
    "token",
    [
        b"",
        b"n",
        b"n,,",
        b"n,,n=user",
        b"n,,r=abc,n=user",
        b"n,,n=,r=abc",
        b"n,,n=user,r=",
        b"n,,n=user,r=a b",
        b"n,,n=us=er,r=abc",
        b"p=tls-unique,,n=user,r=abc",
        b"x,,n=user,r=abc",
        b"n,b=me,n=user,r=abc",
        b"n,,m=ext,n=user,r=abc",
        b"n,,n=user,r=abc,m=ext",
        b"n,,n=user,r=abc,r=abc",
        b"n,,n=\xff,r=abc",
        b"n,,n=" + b"u" * 5000 + b",r=abc",
    ],
)
def test_bad_client_first(token: bytes) -> None:
    with pytest.raises(AuthenticationError):
        parse_client_first(token)


@pytest.mark.parametrize(
    "token",
    [
        b"",
        b"r=abc,s=QUJD",
        b"s=QUJD,r=abc,i=4096",
        b"r=abc,s=QUJD,i=-1",
        b"r=abc,s=QUJD,i=x",
        b"r=abc,s=!!,i=4096",
        b"m=x,r=abc,s=QUJD,i=4096",
    ],
)
def test_bad_server_first(token: bytes) -> None:
    with pytest.raises(AuthenticationError):
        parse_server_first(token)


def test_a_huge_iteration_count_is_read_as_huge() -> None:
    assert parse_server_first(b"r=a,s=QUJD,i=" + b"9" * 4000).iterations > 2**31


def test_the_final_message_of_a_client_is_parsed() -> None:
    message = parse_client_final(b"c=biws,r=abc,x=1,p=QUJD")
    assert (message.channel_binding, message.nonce, message.proof) == (b"n,,", "abc", b"ABC")
    assert message.without_proof == "c=biws,r=abc,x=1"


@pytest.mark.parametrize(
    "token",
    [b"", b"c=biws,r=abc", b"r=abc,c=biws,p=QUJD", b"c=biws,p=QUJD", b"c=biws,r=abc,p=*"],
)
def test_bad_client_final(token: bytes) -> None:
    with pytest.raises(AuthenticationError):
        parse_client_final(token)


def test_the_final_message_of_a_server_is_parsed_or_is_an_error() -> None:
    assert parse_server_final(b"v=QUJD") == b"ABC"
    with pytest.raises(AuthenticationError):
        parse_server_final(b"e=invalid-proof")
