"""`machine_code`: what is kept is executed, so nobody else may be able to write it."""

import os
import time

import pytest

from dtnsim.ground import machine_code

pytest.importorskip("llvmlite")
pytestmark = pytest.mark.skipif(os.name == "nt", reason="owners and modes of POSIX")


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def source(tmp_path):
    file = tmp_path / "source.py"
    file.write_text("a = 1")
    return file


def test_the_folder_is_the_users_own_and_of_this_source(root, source):
    folder = machine_code.folder([source])
    assert folder.parent == root / "dtnsim"
    assert [path.stat().st_mode & 0o777 for path in (folder.parent, folder)] == [0o700, 0o700]
    assert machine_code.folder([source]) == folder
    source.write_text("a = 2")
    assert machine_code.folder([source]) != folder


@pytest.mark.parametrize("level", ["dtnsim", "own"])
def test_a_folder_that_others_may_write_to_or_that_is_a_link_is_refused(root, source, level, monkeypatch):
    folder = machine_code.folder([source])
    place = folder if level == "own" else folder.parent
    for mode in (0o720, 0o702, 0o777):
        place.chmod(mode)
        assert machine_code.folder([source]) is None
    place.chmod(0o700)
    assert machine_code.folder([source]) == folder
    with monkeypatch.context() as patch:
        patch.setattr(os, "getuid", lambda: 12345)
        assert machine_code.folder([source]) is None
    place.rename(root / "elsewhere")
    place.symlink_to(root / "elsewhere", target_is_directory=True)
    assert machine_code.folder([source]) is None


def test_where_nothing_can_be_written_nothing_is_kept(root, source, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(source / "below"))
    assert machine_code.folder([source]) is None
    with machine_code.one_process(None):
        pass


def test_folders_of_old_versions_go(root, source):
    folder = machine_code.folder([source])
    old, recent, objects = (folder.parent / name for name in ("old", "recent", "objects"))
    for path in (old, recent, objects):
        path.mkdir()
    (objects / "enter-0123.o").write_bytes(b"")
    os.utime(old, (0, time.time() - 40 * 86400))
    assert machine_code.folder([source]) == folder
    assert {path.name for path in folder.parent.iterdir()} == {folder.name, "recent"}


def test_kept_code_is_found_by_its_function_from_any_copy_of_its_source(root, source):
    folder = machine_code.folder([source])
    assert folder is not None
    assert not machine_code.holds(folder, "traffic.run")
    (folder / "room").mkdir()
    (folder / "room" / "traffic.run-25.py311.1.nbc").write_bytes(b"")
    assert machine_code.holds(folder, "traffic.run")
    with machine_code.one_process(folder):
        assert (folder / "lock").exists()
    (root / "copy").mkdir()
    (root / "copy" / source.name).write_text("a = 1")
    one, other = (machine_code.source(folder, path) for path in (source, root / "copy" / source.name))
    assert (one, one.read_text(), one.stat().st_mtime) == (other, "a = 1", 0)
