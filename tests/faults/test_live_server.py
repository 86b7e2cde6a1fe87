"""The live server under garbage: short forms of `benchmarks.faults.live`."""

from __future__ import annotations

from pathlib import Path

from benchmarks.faults.live import garbage_not_survived, mutated_requests, mutated_timelines


def test_every_kind_of_malformed_input_is_answered_and_survived(tmp_path: Path) -> None:
    """Each wrong request gets an error, none of them internal; after each kind a valid request gets its response."""
    assert garbage_not_survived(tmp_path) == []


def test_mutations_are_answered_and_survived(tmp_path: Path) -> None:
    """A changed byte of a request or entry of a timeline gives a response or an error of the input."""
    assert mutated_requests(1000, tmp_path) == []
    assert mutated_timelines(40, tmp_path) == []
