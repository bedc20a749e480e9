"""The list of packages that `make setup` installs."""

import tomllib

from scripts.requirements import PROJECT, main, requirements


def test_extras_that_name_each_other_are_expanded():
    extras = {"a": ["one>=1", "barnabas[b,c]"], "b": ["two", "barnabas[c]"], "c": ["three[x]"]}
    assert list(requirements(extras, "a")) == ["one>=1", "two", "three[x]", "three[x]"]


def test_every_requirement_is_printed_once_and_none_is_the_package_itself(capsys):
    main("dev")
    printed = capsys.readouterr().out.splitlines()
    project = tomllib.loads(PROJECT.read_text())["project"]
    extras = project["optional-dependencies"]
    own = [name for name in ("test", "bench", "lint", "spark", "sql") if name in extras]
    wanted = {*project["dependencies"], *(line for name in own for line in extras[name])}
    assert {line for line in wanted if not line.startswith("barnabas[")} <= set(printed)
    assert len(set(printed)) == len(printed)
    assert not any(line.startswith("barnabas") for line in printed)
