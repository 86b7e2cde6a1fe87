"""The capture from the command line: one process listens, another sends."""

from __future__ import annotations

import socket
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import numpy as np
import pytest

from solver.cli import main
from solver.cli.capture import listening_message
from solver.formats.npz import write_recording_npz
from solver.rigs import hoap3
from solver.scene.motion_record import MOTION
from solver.signals.trial import Recording
from solver.study.joint_motion import joints_of

ROOT = Path(__file__).resolve().parent.parent.parent


def test_a_replayed_recording_is_captured(
    tmp_path: Path, steps: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    """`replay` in one process, `capture` in another: a folder with the motion, and one line that counts the samples."""
    rig = hoap3()
    q = np.tile(rig.neutral, (60, 1))
    q[:, 9] = 0.2 * np.sin(np.arange(60) / 10.0)
    recording = Recording("dance", joints=joints_of(rig, np.arange(60) / 100.0, q))
    write_recording_npz(tmp_path / "dance.npz", recording)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    words = ["capture", "--rig", "hoap3", "--port", port, "--output", str(tmp_path / "take")]
    listening = subprocess.Popen(
        [sys.executable, "-m", "solver", *words],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert listening.stdout.readline().startswith("listening to 127.0.0.1")
    times = ["--speed", "2", "--repeat", "4"]
    assert main(["replay", str(tmp_path / "dance.npz"), "--port", port, *times, "--progress", "none"]) == 0
    assert steps == pytest.approx([1.0 / 2.36, 2.0 / 2.36], abs=0.02)
    assert "at 200 Hz" in capsys.readouterr().out
    out, complaints = listening.communicate(timeout=60)
    assert listening.returncode == 0, complaints
    assert "240 samples accepted" in out
    assert len(MOTION.read(tmp_path / "take" / "take.motion.npz")) == 240


def test_an_address_of_the_network_is_named() -> None:
    """The message names other computers only for an address that they can reach."""
    for address in ("127.0.0.1", "0.0.0.0"):
        words = listening_message(Namespace(lsl=None, address=address, port=7001))
        assert words.startswith(f"listening to {address}, port 7001")
        assert ("other computers in the network" in words) == (address == "0.0.0.0")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--output", "out"], "--calibration"),
        (["--rig", "hoap3"], "--output"),
        (["--rig", "hoap3", "--output", "out", "--address", "example"], "not an IP address"),
        (["--rig", "hoap3", "--output", "out", "--name", "a/b"], "not the name of a file"),
    ],
)
def test_a_capture_that_cannot_begin_says_why(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What is missing or wrong is one line, before anything is listened to."""
    monkeypatch.chdir(tmp_path)
    assert main(["capture", *words]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
