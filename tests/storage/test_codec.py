"""Files of ours: what goes in comes out, and what is damaged is one error that says where."""

from __future__ import annotations

import json
import struct
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import pytest

from solver.base.arrays import frozen
from solver.base.differences import differences
from solver.base.errors import InputError, InvalidValue
from solver.storage.codec import FileKind, read_one_of
from solver.storage.npz_archive import read_archive


class Colour(Enum):
    """Of something."""

    RED = 1
    BLUE = 2


@dataclass(frozen=True, slots=True)
class Round:
    """A circle."""

    radius: float


@dataclass(frozen=True, slots=True)
class Square:
    """A square."""

    side: float
    name: str = "square"


@dataclass(frozen=True, slots=True)
class Everything:
    """Every type of field that values of ours have."""

    points: np.ndarray
    times: np.ndarray
    mask: np.ndarray
    number: float
    count: int
    truth: bool
    word: str
    names: tuple[str, ...] = ()
    pair: tuple[str, float] = ("a", 1.0)
    triple: tuple[float, float, float] | None = None
    shape: Round | Square = Round(1.0)
    shapes: tuple[Square, ...] = ()
    masses: Mapping[str, float] = field(default_factory=dict)
    tables: Mapping[str, np.ndarray] = field(default_factory=dict)
    anything: Mapping[str, object] = field(default_factory=dict)
    colour: Colour = Colour.RED
    role: Literal["fixed", "free"] = "fixed"
    pairs: str | tuple[tuple[str, str], ...] = ()
    more: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", frozen("points", self.points, (None, 3), finite=False))
        object.__setattr__(self, "masses", MappingProxyType(dict(self.masses)))


KIND = FileKind(Everything, "test of everything", remedy="Make it again")
FULL = Everything(
    points=np.array([[1.0, np.nan, np.inf], [-np.inf, 0.1 + 0.2, -0.0]]), times=np.zeros((0, 4)),
    mask=np.array([True, False]), number=float("nan"), count=-3, truth=True, word='ü "quoted" \n', names=("a", "b"),
    pair=("x", float("-inf")), triple=(0.1, 1e-300, 1e300), shape=Square(2.0, "s"), shapes=(Square(1.0), Square(2.0)),
    masses={"b": 1.0, "a": float("inf")}, tables={"ints": np.arange(6).reshape(2, 3), "no ints": np.zeros((2, 0), int)},
    anything={"list": [True, ["x"], 2.0]}, colour=Colour.BLUE, role="free", pairs=(("a", "b"),),
    more={"deep": [{"er": None}]},
)  # fmt: skip
BARE = Everything(np.zeros((0, 3)), np.arange(3.0), np.zeros(0, bool), 0.0, 0, False, "", pairs="all")


@pytest.mark.parametrize("suffix", ["json", "npz"])
@pytest.mark.parametrize("value", [FULL, BARE], ids=["full", "bare"])
def test_reading_is_the_inverse_of_writing(value: Everything, suffix: str, tmp_path: Path) -> None:
    """Whatever a value holds, non-finite numbers and types of arrays included, comes back bit for bit."""
    path = KIND.write(tmp_path / f"value.{suffix}", value)
    assert differences(KIND.read(path), value) == ()


def test_json_is_json(tmp_path: Path) -> None:
    """Any reader of JSON reads the file: what is not finite is text, not a word that JSON lacks."""
    path = KIND.write(tmp_path / "value.json", FULL)
    tree = json.loads(path.read_text(encoding="utf-8"), parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    assert tree["kind"] == "test of everything"
    assert tree["points"][0] == [1.0, "nan", "inf"]


def test_equal_arrays_are_stored_once(tmp_path: Path) -> None:
    """An archive holds an array that stands in two places once."""
    pose = np.arange(1e4).reshape(-1, 2)
    one = KIND.write(tmp_path / "one.npz", replace(BARE, tables={"a": pose, "b": pose.copy(), "c": pose + 1.0}))
    arrays, _ = read_archive(one)
    assert sum(np.array_equal(array, pose) for array in arrays.values()) == 1
    assert differences(KIND.read(one).tables["b"], pose) == ()


@pytest.mark.parametrize(
    ("entry", "value", "says"),
    [
        ("count", 1.5, "count: 1.5 is not a whole number"),
        ("truth", 1, "truth: 1 is not true or false"),
        ("number", "1.0", "number: '1.0' is not a number"),
        ("names", "ab", "names: 'ab' is not a list"),
        ("names", ["a", 3], r"names\[1\]: 3 is not text"),
        ("pair", ["a"], "pair: has 1 entries, expected 2"),
        ("points", [[1.0, 2.0]], r"points has shape \(1, 2\)"),
        ("points", [[1.0], [2.0, 3.0]], "points: is not an array"),
        ("points", [[1.0, "1.0", 2.0]], "points: is not an array of numbers"),
        ("points", [[1.0, True, 2.0]], "points: is not an array of numbers"),
        ("points", [10**400], "points: is not an array"),
        ("points", {"dtype": "object", "shape": [0]}, "points: .* is not an array without entries"),
        ("points", {"dtype": "float", "shape": [1]}, "points: .* is not an array without entries"),
        ("points", {"dtype": "float", "shape": [-1, 0]}, "points: .* is not an array without entries"),
        ("points", {"dtype": "float", "shape": [1 << 40, 0]}, "points: .* is not an array without entries"),
        ("number", 10**400, "number: .* is beyond the range of numbers"),
        ("shape", {"radius": 1.0, "side": 1.0}, "shape: has the unknown entry 'radius'; known: side, name"),
        ("shapes", [{"side": 1.0}, {"name": "s"}], r"shapes\[1\]: lacks the entry 'side'"),
        ("shapes", [{"side": 1.0, "edge": 1.0}], r"shapes\[0\]: has the unknown entry 'edge'"),
        ("colour", "GREEN", "colour: 'GREEN' is not one of RED, BLUE"),
        ("role", "dancing", "role: 'dancing' is not one of"),
        ("version", "7", "has version '7'"),
        ("kind", "another", "is 'another', not 'test of everything'"),
        ("more", json.loads("[" * 300 + "]" * 300), "nested more than 200 levels"),
    ],
)
def test_a_wrong_entry_is_named(entry: str, value: object, says: str, tmp_path: Path) -> None:
    """The error names the file, the place in it, what is wrong, and what to do."""
    path = KIND.write(tmp_path / "value.json", FULL)
    tree = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**tree, entry: value}), encoding="utf-8")
    with pytest.raises(InputError, match=says) as caught:
        KIND.read(path)
    assert str(caught.value).startswith(str(path))
    assert "Make it again" in str(caught.value)


def test_a_left_out_entry_takes_its_default(tmp_path: Path) -> None:
    """What a class gives a default may be left out by whoever writes a file by hand; anything else may not."""
    path = KIND.write(tmp_path / "value.json", BARE)
    tree = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({name: tree[name] for name in tree if name != "role"}), encoding="utf-8")
    assert differences(KIND.read(path), BARE) == ()
    path.write_text(json.dumps({name: tree[name] for name in tree if name != "word"}), encoding="utf-8")
    with pytest.raises(InputError, match="lacks the entry 'word'"):
        KIND.read(path)


@pytest.mark.parametrize(("suffix", "step"), [("json", 3), ("npz", 5)])
def test_a_damaged_byte_is_a_value_or_one_error(suffix: str, step: int, tmp_path: Path) -> None:
    """Whichever byte is changed, reading gives a value of the class or an `InputError`, and never anything else."""
    content = KIND.write(tmp_path / f"value.{suffix}", FULL).read_bytes()
    path, refused = tmp_path / f"damaged.{suffix}", 0
    for place in range(0, len(content), step):
        path.write_bytes(content[:place] + bytes([content[place] ^ (1 << place % 8)]) + content[place + 1 :])
        try:
            assert isinstance(KIND.read(path), Everything)
        except InputError:
            refused += 1
    assert refused > 0
    for length in range(0, len(content), 97):
        path.write_bytes(content[:length])
        with pytest.raises(InputError):
            KIND.read(path)


def test_sizes_are_checked_before_anything_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An archive that would unpack to more than the limit is refused by its directory alone."""
    path = tmp_path / "bomb.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros.npy", bytes(1 << 20))
    monkeypatch.setattr("solver.storage.npz_archive.MAX_TOTAL_BYTES", 1 << 19)
    with pytest.raises(InputError, match="unpacks to"):
        read_archive(path)


def test_an_array_has_the_size_in_its_header(tmp_path: Path) -> None:
    """A header that shows of more numbers than follow is refused without making room for them."""
    np.savez(tmp_path / "short.npz", a=np.zeros(100))
    with zipfile.ZipFile(tmp_path / "short.npz") as archive:
        content = archive.read("a.npy")
    path = tmp_path / "long.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", content.replace(b"(100,), }         ", b"(100000000000,), }"))
    with pytest.raises(InputError, match=r"array a\.npy does not have the size"):
        read_archive(path)


def test_objects_are_never_unpickled(tmp_path: Path) -> None:
    """Neither is an array of objects written, nor read: it is left out, and refused where it is needed."""
    with pytest.raises(InvalidValue, match="tables"):
        KIND.write(tmp_path / "value.npz", replace(BARE, tables={"a": np.array([{}], dtype=object)}))
    assert not (tmp_path / "value.npz").exists()
    path = KIND.write(tmp_path / "value.npz", BARE)
    arrays, others = read_archive(path)
    np.savez(path, **{**arrays, "mask": np.array([{}], dtype=object)})
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("tree.json", others["tree.json"])
    assert read_archive(path)[0]["mask"].size == 0
    with pytest.raises(InputError, match="mask: an array of object is not read"):
        KIND.read(path)


def test_a_field_that_does_not_hold_what_it_declares_is_not_written(tmp_path: Path) -> None:
    """What could not be read again is refused when it is written, and nothing is left behind."""
    with pytest.raises(InvalidValue, match="count"):
        KIND.write(tmp_path / "value.json", replace(BARE, count=1.5))  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_one_of_several_kinds(tmp_path: Path) -> None:
    """A file that may be of several kinds is read as the one that it says; another is refused with all names."""
    squares = FileKind(Square, "test square")
    rounds = FileKind(Round, "test circle")
    assert read_one_of(squares.write(tmp_path / "a.json", Square(2.0)), (rounds, squares)) == Square(2.0)
    with pytest.raises(InputError, match="'test of everything', not 'test circle' or 'test square'"):
        read_one_of(KIND.write(tmp_path / "b.npz", BARE), (rounds, squares))
    np.savez(tmp_path / "c.npz", positions=np.zeros(3))
    with pytest.raises(InputError, match=r"no file of this program: it lacks tree\.json"):
        read_one_of(tmp_path / "c.npz", (rounds, squares))


def test_what_compresses_too_well_is_written_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An hour of standing still is no bomb: what is written can be read, however little is in it."""
    monkeypatch.setattr("solver.storage.npz_archive.ALWAYS_ALLOWED_BYTES", 1 << 20)
    still = np.zeros((60_000, 3))
    path = KIND.write(tmp_path / "still.npz", replace(BARE, points=still))
    assert path.stat().st_size > still.nbytes
    assert np.array_equal(KIND.read(path).points, still)


def test_an_empty_array_with_many_rows_is_refused(tmp_path: Path) -> None:
    """An axis of no length, or entries of no bytes, make no room for others without end."""
    for number, (kind, shape) in enumerate((("<f8", "(1099511627776, 0)"), ("<U0", "(1099511627776,)"))):
        header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
        path = tmp_path / f"{number}.npz"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        with pytest.raises(InputError, match="claims more rows"):
            read_archive(path)


def test_two_entries_of_one_name_are_refused(tmp_path: Path) -> None:
    """Which one would be meant?"""
    np.savez(tmp_path / "a.npz", a=np.zeros(2))
    with (
        zipfile.ZipFile(tmp_path / "a.npz", "a") as archive,
        pytest.warns(UserWarning, match="Duplicate name"),
    ):
        archive.writestr("a.npy", archive.read("a.npy"))
    with pytest.raises(InputError, match="two entries of one name"):
        read_archive(tmp_path / "a.npz")


@pytest.mark.parametrize(
    ("version", "says"),
    [(2, r"Update Exciting Dance: a release after \d+\.\d+\.\d+ reads it"), (0, "Make it again")],
)
def test_another_version_names_the_program_that_reads_it(version: int, says: str, tmp_path: Path) -> None:
    """A file of a newer or an older version is refused, and the error says which version of the program reads it."""
    path = KIND.write(tmp_path / "value.json", FULL)
    tree = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**tree, "version": version}), encoding="utf-8")
    with pytest.raises(InputError, match=says) as caught:
        KIND.read(path)
    assert f"has version {version} of 'test of everything'" in str(caught.value)
