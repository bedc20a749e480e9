import pytest

from barnabas.security.principal import ANONYMOUS, Principal, map_name, parse_rules

DN = "CN=Duke,OU=ServiceUsers,O=Org,C=US"


def test_a_principal_is_printed_as_it_is_parsed() -> None:
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
def test_the_first_matching_rule_maps_the_name(rules: list[str], mapped: str) -> None:
    assert map_name(DN, parse_rules(rules)) == mapped


def test_no_rule_fits() -> None:
    with pytest.raises(ValueError, match="no principal mapping rule"):
        map_name(DN, parse_rules(["RULE:^CN=nobody$/x/"]))


@pytest.mark.parametrize("rule", ["", "RULE:", "RULE:a", "RULE:a/b", "RULE:a/b/X", "default"])
def test_an_invalid_rule_is_rejected(rule: str) -> None:
    with pytest.raises(ValueError, match="not a principal mapping rule"):
        parse_rules([rule])
