"""kafka-acls and `acls` over an authorizer's rules in memory."""

import contextlib

import pytest

from barnabas.admin import AclFilter, Results
from barnabas.cli.framework.connection import Connection
from barnabas.cli.main import main


class Rules:
    """As much of an admin client as the tools ask for."""

    def __init__(self):
        self.bindings = []

    def describe_acls(self, wanted=None):
        wanted = wanted or AclFilter()
        return [binding for binding in self.bindings if wanted.matches(binding)]

    def create_acls(self, bindings):
        self.bindings += [b for b in bindings if b not in self.bindings]
        return Results(dict.fromkeys(bindings))

    def delete_acls(self, filters):
        gone = {wanted: tuple(self.describe_acls(wanted)) for wanted in filters}
        self.bindings = [b for b in self.bindings if not any(b in g for g in gone.values())]
        return Results(gone)


@pytest.fixture
def rules(monkeypatch):
    made = Rules()
    monkeypatch.setattr(Connection, "admin", lambda _: contextlib.nullcontext(made))
    return made


def apache(*arguments):
    return main(["kafka-acls", "--bootstrap-server", "x:1", *arguments])


def test_add_list_and_remove(rules, capsys):
    topic = ("--allow-principal", "User:alice", "--operation", "Read", "--topic", "orders")
    assert apache("--add", *topic) == 0
    entry = "(principal=User:alice, host=*, operation=READ, permissionType=ALLOW)"
    resource = "ResourcePattern(resourceType=TOPIC, name=orders, patternType=LITERAL)"
    assert capsys.readouterr().out == (
        f"Adding ACLs for resource `{resource}`: \n \t{entry} \n"
        f"Current ACLs for resource `{resource}`: \n \t{entry} \n\n"
    )
    assert apache("--list", "--topic", "other") == 0
    assert capsys.readouterr().out == ""
    assert apache("--list", "--principal", "User:alice") == 0
    assert entry in capsys.readouterr().out
    assert apache("--remove", *topic, "--force") == 0
    assert rules.bindings == []


def test_what_producers_and_consumers_need(rules):
    who = ("--allow-principal", "User:bob", "--topic", "orders")
    assert apache("--add", *who, "--producer") == 0
    assert {b.entry.operation.name for b in rules.bindings} == {"WRITE", "DESCRIBE", "CREATE"}
    rules.bindings.clear()
    assert apache("--add", *who, "--consumer", "--group", "billing") == 0
    found = {(b.pattern.type.name, b.entry.operation.name) for b in rules.bindings}
    assert found == {("TOPIC", "READ"), ("TOPIC", "DESCRIBE"), ("GROUP", "READ")}


def test_a_rule_without_a_principal(rules):
    assert apache("--add", "--topic", "orders") == 2


def test_the_noun(rules, capsys):
    rule = ("--resource", "topic:orders", "--principal", "User:alice", "--operation", "read")
    assert main(["acls", "add", *rule, "--format", "tsv"]) == 0
    assert capsys.readouterr().out == (
        "TOPIC\torders\tLITERAL\tUser:alice\t*\tREAD\tALLOW\tOK\t-\n"
    )
    assert main(["acl", "list", "--resource", "topic:orders", "--format", "tsv"]) == 0
    assert capsys.readouterr().out == "TOPIC\torders\tLITERAL\tUser:alice\t*\tREAD\tALLOW\n"
    assert main(["acls", "remove", "--principal", "User:alice", "--dry-run"]) == 0
    assert len(rules.bindings) == 1
    assert main(["acls", "remove", "--principal", "User:alice", "--yes"]) == 0
    assert rules.bindings == []
    assert main(["acls", "add", "--resource", "planet:x", "--principal", "User:a"]) == 2
