from barnabas.security.principal import distinguished_name


def name(*parts):
    return distinguished_name(tuple((part,) for part in parts))


def test_the_most_particular_part_comes_first():
    subject = name(("countryName", "DE"), ("organizationName", "Acme"), ("commonName", "alice"))
    assert subject == "CN=alice,O=Acme,C=DE"


def test_special_characters_are_escaped():
    assert name(("commonName", "a,b+c")) == r"CN=a\,b\+c"
    assert name(("commonName", "#1")) == r"CN=\#1"
    assert name(("commonName", " x ")) == r"CN=\ x\ "


def test_several_values_in_one_part():
    subject = ((("commonName", "a"), ("userId", "7")),)
    assert distinguished_name(subject) == "CN=a+UID=7"


def test_kinds_without_a_short_name():
    assert name(("emailAddress", "a@b")) == "emailAddress=a@b"
