from barnabas.streams.sql.engine.queries import QueryDirectory, StateDirectory


def test_a_state_directory_keeps_its_id(tmp_path):
    directory = StateDirectory(tmp_path / "a")
    assert directory.known_id() is None
    home = directory.home
    assert home.where.endswith(":" + str(tmp_path / "a"))
    assert StateDirectory(tmp_path / "a").home == home
    assert StateDirectory(tmp_path / "b").home.directory != home.directory
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["id"]


def test_the_id_goes_with_the_directory(tmp_path):
    home = StateDirectory(tmp_path / "a").home
    (tmp_path / "a").rename(tmp_path / "moved")
    moved = StateDirectory(tmp_path / "moved").home
    assert moved.directory == home.directory
    assert moved.where != home.where


def test_one_has_the_lock(tmp_path):
    one, two = QueryDirectory(tmp_path, "q"), QueryDirectory(tmp_path, "q")
    assert not one.is_taken()
    assert one.lock()
    assert two.is_taken()
    assert not two.lock()
    one.unlock()
    assert not two.is_taken()
    assert two.lock()
    two.remove()
    assert list(tmp_path.iterdir()) == []


def test_asking_takes_nothing(tmp_path):
    one, two = QueryDirectory(tmp_path, "q"), QueryDirectory(tmp_path, "q")
    assert one.lock()
    one.unlock()
    assert not two.is_taken()
    assert one.lock()
    one.unlock()
