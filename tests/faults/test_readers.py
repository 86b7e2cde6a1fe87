"""Whatever happens to a file: it is read, or one error of this program says what is wrong with it."""

from __future__ import annotations

import ctypes
import time
from pathlib import Path

import pytest

from solver.base.errors import InputError
from solver.storage.npz_archive import read_archive
from tests.faults.mutations import bomb
from tests.faults.samples import Sample, npz_kinds, samples
from tests.faults.watchdog import Limits, Outcome, attempt, one_bit, run

EACH, BITS = 12, 60
"""Damaged files of every format, and flipped bits of every kind of archive."""


def test_every_sample_is_read(tmp_path: Path) -> None:
    """The files that the fuzzer damages are valid before."""
    for sample in samples().values():
        (tmp_path / sample.file).write_bytes(sample.content)
        sample.read(tmp_path / sample.file)


def test_damaged_files_are_read_or_refused() -> None:
    """Of every format: no other exception, no crash, nothing slow, nothing large."""
    outcome = run([(name, seed) for seed in range(EACH) for name in samples()])
    assert [str(trouble) for trouble in outcome.troubles] == []
    assert outcome.inputs == EACH * len(samples())
    assert outcome.refused > outcome.inputs // 2
    assert outcome.read > 0


def test_inputs_that_once_crashed_are_refused() -> None:
    """The damaged files that a long run found: plates that name no channel, a rank beyond all numbers."""
    outcome = run([("c3d", 14587), ("report", 12650)])
    assert outcome.troubles == []
    assert outcome.inputs == 2


def test_an_archive_with_a_flipped_bit_is_read_or_refused(tmp_path: Path) -> None:
    """Check sums catch most; what they do not cover does not matter or is refused."""
    outcome = Outcome()
    for sample in npz_kinds().values():
        for seed in range(BITS):
            outcome.add(attempt(sample, seed, one_bit(sample, seed), tmp_path))
    assert [str(trouble) for trouble in outcome.troubles] == []
    assert outcome.refused > outcome.inputs // 2


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    """An archive that would unpack to a thousand times its size costs no more than its directory."""
    path = tmp_path / "walk.npz"
    path.write_bytes(bomb(200_000_000))
    start = time.process_time()
    with pytest.raises(InputError, match=r"unpacks to 190 MB, \d+ times its size"):
        read_archive(path)
    assert time.process_time() - start < 0.5


def strange() -> dict[str, Sample]:
    """Readers that do all that a reader must not, for the input ``now``."""
    return {name: Sample(name, "a.txt", "table", b"", reader) for name, reader in STRANGE.items()}


def trigger(sample: Sample, seed: int) -> bytes:
    """The input on which the readers of `STRANGE` act."""
    return b"now"


def _raise() -> None:
    raise KeyError("name")


def _crash() -> None:
    ctypes.string_at(0)


def _hang() -> None:
    time.sleep(600.0)


def _work_long() -> None:
    start = time.process_time()
    while time.process_time() - start < 0.4:
        pass


def _take_memory() -> None:
    bytearray(b"x") * (90 << 20)


def _ask_for_more() -> None:
    try:
        bytearray(8 << 30)
    except MemoryError as error:
        raise InputError("a.txt", "is too large") from error


def _reader(act):  # type: ignore[no-untyped-def]
    class Reader:
        """Can be sent to another process by its name alone."""

        def __call__(self, path: Path) -> None:
            if path.read_bytes():
                act()

    return Reader()


STRANGE = {
    act.__name__.strip("_"): _reader(act) for act in (_raise, _crash, _hang, _work_long, _take_memory, _ask_for_more)
}


def test_the_watchdog_reports_every_trouble() -> None:
    """Another exception, a crash, a hang, slow and greedy readers are reported, and the inputs after them are read."""
    limits = Limits(seconds=0.3, patience=3.0, memory=60 << 20, addresses=1 << 30)
    outcome = run([(name, 1) for name in STRANGE], trigger, 2, strange, limits)
    found = {trouble.name: trouble.what for trouble in outcome.troubles}
    assert outcome.inputs == len(STRANGE)
    assert found["raise"] == "KeyError: 'name'"
    assert found["crash"] == "crashed: exit code -11"
    assert found["hang"].startswith("hung: 3 s")
    assert found["work_long"].startswith("slow: 0.")
    assert found["take_memory"].startswith("memory: ")
    assert found["ask_for_more"] == "memory: more than 1024 MB requested"
    assert len(outcome.troubles) == len(STRANGE)
