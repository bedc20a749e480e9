"""kafka-acls and `acls` over an authorizer's rules in memory."""

import contextlib
import io
import sys

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
    assert capsys.readouterr().out == f"Adding ACLs for resource `{resource}`: \n \t{entry}\n\n"
    assert apache("--list", "--topic", "other") == 0
    assert capsys.readouterr().out == ""
    assert apache("--list", "--principal", "User:alice") == 0
    assert capsys.readouterr().out == (
        f"ACLs for principal `User:alice`\nCurrent ACLs for resource `{resource}`:\n\t{entry}\n\n"
    )
    assert apache("--remove", *topic, "--force") == 0
    assert rules.bindings == []


def test_the_acls_of_producers_and_consumers(rules):
    who = ("--allow-principal", "User:bob", "--topic", "orders")
    assert apache("--add", *who, "--producer") == 0
    assert {b.entry.operation.name for b in rules.bindings} == {"WRITE", "DESCRIBE", "CREATE"}
    rules.bindings.clear()
    assert apache("--add", *who, "--consumer", "--group", "billing") == 0
    found = {(b.pattern.type.name, b.entry.operation.name) for b in rules.bindings}
    assert found == {("TOPIC", "READ"), ("TOPIC", "DESCRIBE"), ("GROUP", "READ")}


def test_rules_that_are_not_whole(rules, capsys, monkeypatch):
    who = ("--allow-principal", "User:bob")
    assert apache("--add", "--topic", "orders") == 1
    assert "--allow-principal, --deny-principal" in capsys.readouterr().err
    assert apache("--add", *who, "--operation", "Read") == 1
    assert "You must provide at least one resource" in capsys.readouterr().err
    assert apache("--add", *who, "--operation", "ClusterAction", "--topic", "orders") == 1
    assert apache("--remove", "--force") == 1
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    assert apache("--remove", "--topic", "orders") == 1
    assert "needs --force" in capsys.readouterr().err
    assert rules.bindings == []


def test_everything_about_a_resource_goes(rules):
    who = ("--allow-principal", "User:bob")
    assert apache("--add", *who, "--producer", "--topic", "orders", "--topic", "other") == 0
    assert apache("--remove", "--topic", "orders", "--force") == 0
    assert {binding.pattern.name for binding in rules.bindings} == {"other"}


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(("answer", "code", "left"), [("y\n", 0, 0), ("n\n", 1, 1)])
def test_a_removal_needs_the_answer_y(rules, capsys, monkeypatch, answer, code, left):
    rule = ("--deny-principal", "User:eve", "--operation", "Write", "--topic", "orders")
    apache("--add", *rule)
    capsys.readouterr()
    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    assert apache("--remove", *rule) == code
    assert len(rules.bindings) == left
    assert capsys.readouterr().out == (
        "Are you sure you want to remove ACLs: \n"
        " \t(principal=User:eve, host=*, operation=WRITE, permissionType=DENY)\n"
        " from resource filter `ResourcePattern(resourceType=TOPIC, name=orders, "
        "patternType=LITERAL)`? (y/n)\n"
    )


def test_the_noun_adds_lists_and_removes_acls(rules, capsys):
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


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (["--operation", "Reed"], "unknown Operation 'Reed'; known are All, Read, Write, "),
        (["--resource-pattern-type", "prefix"], "unknown PatternType 'prefix'; known are "),
    ],
)
def test_a_word_that_is_none_is_named_with_those_there_are(rules, capsys, wrong, text):
    command = ["kafka-acls", "--bootstrap-server", "a:1", "--add", "--allow-principal", "User:a"]
    assert main([*command, "--topic", "t", *wrong]) == 1
    assert text in capsys.readouterr().err
    assert rules.bindings == []
