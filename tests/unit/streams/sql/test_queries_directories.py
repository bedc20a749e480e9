from barnabas.streams.sql.engine.queries import QueryDirectory, StateDirectory


def test_a_state_directory_keeps_its_id(tmp_path):
    directory = StateDirectory(tmp_path / "a")
    assert directory.known_id() is None
    location = directory.location
    assert location.where.endswith(":" + str(tmp_path / "a"))
    assert StateDirectory(tmp_path / "a").location == location
    assert StateDirectory(tmp_path / "b").location.directory != location.directory
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["id"]


def test_the_id_moves_with_the_directory(tmp_path):
    location = StateDirectory(tmp_path / "a").location
    (tmp_path / "a").rename(tmp_path / "moved")
    moved = StateDirectory(tmp_path / "moved").location
    assert moved.directory == location.directory
    assert moved.where != location.where


def test_one_process_has_the_lock(tmp_path):
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


def test_is_taken_does_not_take_the_lock(tmp_path):
    one, two = QueryDirectory(tmp_path, "q"), QueryDirectory(tmp_path, "q")
    assert one.lock()
    one.unlock()
    assert not two.is_taken()
    assert one.lock()
    one.unlock()
