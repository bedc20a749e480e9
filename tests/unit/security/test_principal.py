import pytest

from barnabas.security.principal import ANONYMOUS, Principal, map_name, parse_rules

DN = "CN=Duke,OU=ServiceUsers,O=Org,C=US"


def test_text() -> None:
    assert str(Principal.parse("User:alice")) == "User:alice"
    assert str(ANONYMOUS) == "User:ANONYMOUS"


@pytest.mark.parametrize("text", ["alice", "User:", ":alice", ""])
def test_not_a_principal(text: str) -> None:
    with pytest.raises(ValueError, match="Type:name"):
        Principal.parse(text)


@pytest.mark.parametrize(
    ("rules", "mapped"),
    [
        (["DEFAULT"], DN),
        (["RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/"], "Duke"),
        (["RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/L"], "duke"),
        (["RULE:^CN=(.*?),OU=(.*?),.*$/$1@$2/U"], "DUKE@SERVICEUSERS"),
        (["RULE:^CN=nobody$/x/", "DEFAULT"], DN),
    ],
)
def test_rules(rules: list[str], mapped: str) -> None:
    assert map_name(DN, parse_rules(rules)) == mapped


def test_no_rule_fits() -> None:
    with pytest.raises(ValueError, match="no principal mapping rule"):
        map_name(DN, parse_rules(["RULE:^CN=nobody$/x/"]))


@pytest.mark.parametrize("rule", ["", "RULE:", "RULE:a", "RULE:a/b", "RULE:a/b/X", "default"])
def test_bad_rules(rule: str) -> None:
    with pytest.raises(ValueError, match="not a principal mapping rule"):
        parse_rules([rule])
