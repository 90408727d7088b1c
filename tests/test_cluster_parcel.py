"""What travels between computers: it arrives whole, or not at all, and writes nothing outside its folder."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from runs import files_of

from testbed.kernel import parcel
from testbed.kernel.parcel import Parcel, ParcelError, packed, unpack
from testbed.sweep.cluster.spool import Spool

KEYS = [character * 64 for character in "abcdef"]


def fill(folder: Path) -> Path:
    (folder / "sub/empty").mkdir(parents=True)
    (folder / "sub/x.json").write_text("{}\n")
    (folder / "linux").write_bytes(os.urandom(3000))
    (folder / "linux").chmod(0o755)
    (folder / "ä b").write_text("ü")
    return folder


def test_a_folder_arrives_as_it_was(tmp_path: Path) -> None:
    sent, got = fill(tmp_path / "sent"), tmp_path / "got"
    got.mkdir()
    unpack(packed(sent), got)
    assert files_of(got) == files_of(sent)
    assert (got / "sub/empty").is_dir()
    assert os.access(got / "linux", os.X_OK)
    assert not os.access(got / "ä b", os.X_OK)


def test_the_same_files_make_the_same_parcel_whenever_and_wherever_they_were_written(tmp_path: Path) -> None:
    first, second = fill(tmp_path / "first"), tmp_path / "second"
    second.mkdir()
    unpack(packed(first), second)
    os.utime(second / "linux", (1, 1))
    assert packed(second) == packed(first)


def test_links_and_pipes_do_not_travel(tmp_path: Path) -> None:
    sent, got = fill(tmp_path / "sent"), tmp_path / "got"
    (sent / "link").symlink_to("/etc/passwd")
    (sent / "folder").symlink_to("/etc")
    os.mkfifo(sent / "pipe")
    got.mkdir()
    unpack(packed(sent), got)
    assert not {path.name for path in got.iterdir()} & {"link", "folder", "pipe"}


def test_a_parcel_that_was_changed_on_its_way_is_refused(tmp_path: Path) -> None:
    whole = packed(fill(tmp_path / "sent"))
    for at in range(0, len(whole.data), len(whole.data) // 20):
        data = bytearray(whole.data)
        data[at] ^= 1
        (tmp_path / f"{at}").mkdir()
        with pytest.raises(ParcelError, match="digest"):
            unpack(Parcel(bytes(data), whole.digest), tmp_path / f"{at}")
        assert not list((tmp_path / f"{at}").iterdir())


def crafted(*members: tuple[str, bytes, str]) -> Parcel:
    """An archive of members by name, type and target of a link."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, kind, target in members:
            about = tarfile.TarInfo(name)
            about.type, about.linkname = kind, target
            about.size = 2 if kind == tarfile.REGTYPE else 0
            archive.addfile(about, io.BytesIO(b"hi"))
    return Parcel.of(buffer.getvalue())


@pytest.mark.parametrize(
    "members",
    [
        [("../outside", tarfile.REGTYPE, "")],
        [("a/../../outside", tarfile.REGTYPE, "")],
        [("/tmp/outside", tarfile.REGTYPE, "")],
        [("link", tarfile.SYMTYPE, "/etc/passwd")],
        [("link", tarfile.SYMTYPE, ".."), ("link/outside", tarfile.REGTYPE, "")],
        [("hard", tarfile.LNKTYPE, "/etc/passwd")],
        [("device", tarfile.CHRTYPE, "")],
        [("block", tarfile.BLKTYPE, "")],
        [("pipe", tarfile.FIFOTYPE, "")],
        [("twice", tarfile.REGTYPE, ""), ("twice", tarfile.REGTYPE, "")],
        [("folder", tarfile.DIRTYPE, ""), ("folder", tarfile.DIRTYPE, "")],
        [("missing/file", tarfile.REGTYPE, "")],
        [(".", tarfile.DIRTYPE, "")],
        [("file", tarfile.REGTYPE, ""), ("file/below", tarfile.REGTYPE, "")],
        [("new\nline", tarfile.REGTYPE, "")],
        [("\x1b[31mred", tarfile.REGTYPE, "")],
    ],
    ids=str,
)
def test_what_does_not_belong_in_a_parcel_is_refused(tmp_path: Path, members: list[tuple[str, bytes, str]]) -> None:
    inside = tmp_path / "deep/inside"
    inside.mkdir(parents=True)
    with pytest.raises(ParcelError):
        unpack(crafted(*members), inside)
    assert {path for path in tmp_path.rglob("*") if inside not in path.parents} == {inside.parent, inside}
    assert not Path("/tmp/outside").exists()


@pytest.mark.parametrize("data", [b"", b"no archive", b"\x1f\x8b" + bytes(30)])
def test_what_is_no_archive_is_refused(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(ParcelError):
        unpack(Parcel.of(data), tmp_path)


def test_a_parcel_is_cut_off_nowhere(tmp_path: Path) -> None:
    whole = packed(fill(tmp_path / "sent"))
    for size in range(0, len(whole.data), len(whole.data) // 20):
        (tmp_path / f"{size}").mkdir()
        with pytest.raises(ParcelError):
            unpack(Parcel.of(whole.data[:size]), tmp_path / f"{size}")


def test_sizes_have_a_bound_at_both_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = packed(fill(tmp_path / "sent"))
    monkeypatch.setattr(parcel, "MOST_BYTES", 1000)
    with pytest.raises(ParcelError, match="larger"):
        packed(tmp_path / "sent")
    (tmp_path / "got").mkdir()
    with pytest.raises(ParcelError, match="larger"):
        unpack(sent, tmp_path / "got")


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME])
def test_a_few_bytes_do_not_fill_the_memory(tmp_path: Path, kind: bytes) -> None:
    """A header that says more of a file has a length of its own, and counts for no file."""
    about = tarfile.TarInfo("header")
    about.type, about.size = kind, parcel.READ_BYTES + tarfile.BLOCKSIZE
    bomb = Parcel.of(gzip.compress(about.tobuf() + bytes(about.size)))
    assert len(bomb.data) < 10_000
    with pytest.raises(ParcelError, match="a header of more than 1 MiB"):
        unpack(bomb, tmp_path)


def test_a_large_file_arrives_as_it_was(tmp_path: Path) -> None:
    for name in ("sent", "got"):
        (tmp_path / name).mkdir()
    (tmp_path / "sent/linux").write_bytes(os.urandom(3 * parcel.READ_BYTES + 7))
    unpack(packed(tmp_path / "sent"), tmp_path / "got")
    assert files_of(tmp_path / "got") == files_of(tmp_path / "sent")


def test_a_few_bytes_do_not_fill_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sent").mkdir()
    (tmp_path / "sent/zeros").write_bytes(bytes(10**6))
    bomb = packed(tmp_path / "sent")
    assert len(bomb.data) < 10_000
    monkeypatch.setattr(parcel, "MOST_BYTES", 10**5)
    (tmp_path / "got").mkdir()
    with pytest.raises(ParcelError, match="larger"):
        unpack(bomb, tmp_path / "got")
    assert not list((tmp_path / "got").iterdir())


@pytest.fixture
def kept(tmp_path: Path) -> Callable[[Spool], Spool]:
    """Keeps six parcels of 100 bytes, the oldest first."""

    def keep(spool: Spool) -> Spool:
        for number, key in enumerate(KEYS):
            spool.keep(key, Parcel.of(bytes([number]) * 100))
            for path in spool.folder.glob(f"{key}.*"):
                os.utime(path, (number + 1, number + 1))
        return spool

    return keep


def test_what_is_kept_is_there_until_it_is_dropped(tmp_path: Path, kept: Callable[[Spool], Spool]) -> None:
    spool = kept(Spool(tmp_path / "spool"))
    assert list(spool.held()) == KEYS
    assert spool.fetch(KEYS[2]) == Parcel.of(bytes([2]) * 100)
    spool.drop(KEYS[:3])
    assert list(Spool(tmp_path / "spool").held()) == KEYS[3:]
    assert spool.fetch(KEYS[2]) is None


def test_the_oldest_make_room_for_new_ones(tmp_path: Path, kept: Callable[[Spool], Spool]) -> None:
    assert list(kept(Spool(tmp_path / "count", most_results=4)).held()) == KEYS[2:]
    assert list(kept(Spool(tmp_path / "bytes", most_bytes=350)).held()) == KEYS[3:]
    assert list(kept(Spool(tmp_path / "none", most_results=0)).held()) == []


def test_other_files_in_the_spool_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / f".partial-{'a' * 64}").write_text("half")
    spool = Spool(tmp_path, most_results=0)
    spool.keep(KEYS[0], Parcel.of(b"x"))
    assert spool.held() == ()
    assert {path.name for path in tmp_path.iterdir()} == {"notes.txt", f".partial-{'a' * 64}"}
