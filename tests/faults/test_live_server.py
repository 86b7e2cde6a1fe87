"""The live server under garbage: short forms of `benchmarks.faults.live`."""

from __future__ import annotations

from pathlib import Path

from benchmarks.faults.live import garbage_not_survived, mutated_requests, mutated_timelines


def test_every_kind_of_garbage_is_answered_and_survived(tmp_path: Path) -> None:
    """Each wrong request has an error, and after each kind a good one has its answer; no word of a defect."""
    assert garbage_not_survived(tmp_path) == []


def test_mutations_are_answered_and_survived(tmp_path: Path) -> None:
    """Whatever byte of a request or entry of a timeline is another, it is an answer or an error of the input."""
    assert mutated_requests(1000, tmp_path) == []
    assert mutated_timelines(40, tmp_path) == []
