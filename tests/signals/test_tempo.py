"""The tempo of music, and sounds without one."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.io import wavfile

from solver.cli import main, parser
from solver.cli.dance import dance_options
from solver.cli.exit_codes import WRONG_INPUT
from solver.rigs import human
from solver.signals.tempo import find_tempo

RATE = 8000
SECONDS = np.arange(20 * RATE) / RATE
UNREADABLE = "is no .wav file"


def drums(bpm: float, jitter: float = 0.0) -> np.ndarray:
    """(N,) Beats of a drum with a softer rattle between them, played with a standard deviation [s]."""
    random, sound = np.random.default_rng(7), np.zeros(len(SECONDS))
    decay = np.exp(-np.arange(RATE // 10) / (0.02 * RATE))
    drum, rattle = decay * np.sin(2 * np.pi * 150 * SECONDS[: len(decay)]), 0.4 * decay * random.normal(size=len(decay))
    for number, time in enumerate(np.arange(0.1, 19.5, 30.0 / bpm)):
        start = round((time + jitter * random.normal()) * RATE)
        sound[start : start + len(decay)] += rattle if number % 2 else drum
    return sound


@pytest.mark.parametrize(
    ("bpm", "counts"), [(60.0, 120.0), (86.4, 172.8), (100.0, 100.0), (128.5, 128.5), (190.0, 190.0), (300.0, 150.0)]
)
def test_the_tempo_is_that_of_the_beats(bpm: float, counts: float) -> None:
    """Of regular and of human drums, beats or their halves or doubles from 97 to 194 a minute are found."""
    assert find_tempo(drums(bpm), RATE) == pytest.approx(counts, rel=2e-3)
    assert find_tempo(drums(bpm, 0.01), RATE) == pytest.approx(counts, rel=5e-3)


@pytest.mark.parametrize(
    ("kind", "gains", "offset"),
    [(np.int16, (9e3,), 0.0), (np.uint8, (40.0,), 127.0), (np.float32, (1e-3, 3e-4), 0.0)],
)
def test_loudness_channels_and_sample_type_do_not_change_the_tempo(
    tmp_path: Path, kind: type, gains: tuple[float, ...], offset: float
) -> None:
    """Integers of 16 and 8 bits, soft floats and stereo files have the tempo of the sound, which the dance takes."""
    sound: np.ndarray = (np.outer(drums(110.0), gains) + offset).astype(kind)
    wavfile.write(tmp_path / "song.wav", RATE, sound)
    words = parser().parse_args(["dance", "human", "--music", str(tmp_path / "song.wav"), "--output", "out"])
    assert dance_options(words, human(1.75, 70.0, "male")).bpm == pytest.approx(110.0, rel=2e-3)


@pytest.mark.parametrize(
    ("sound", "reason"),
    [
        (np.random.default_rng(3).normal(size=len(SECONDS)), "do not recur"),
        (sum(np.sin(2 * np.pi * f * SECONDS) for f in (220, 277, 330)), "do not recur"),
        (np.zeros(len(SECONDS)), "is silent"),
        (np.pad(np.zeros(70 * RATE), RATE, constant_values=0.5), "is silent"),
        (np.where(SECONDS == 1.0, np.nan, drums(120.0)), "not finite"),
        (drums(120.0)[: 5 * RATE], "at least 12 s"),
        (b"ID3\x04song", UNREADABLE),
        (b"RIFF", UNREADABLE),
        (b"RIFF\x10\0\0\0WAVEfmt ", UNREADABLE),
        (b"RIFF\x10\0\0\0WAVEdata\xff\xff\0\0ab", UNREADABLE),
    ],
)
def test_a_sound_without_a_tempo_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], sound: np.ndarray | bytes, reason: str
) -> None:
    """Silence, noise and chords, other and damaged files are refused with the reason, and so is a tempo given twice."""
    path = tmp_path / "song.wav"
    if isinstance(sound, bytes):
        path.write_bytes(sound)
    else:
        wavfile.write(path, RATE, sound.astype(np.float32))
    words = ["dance", "hoap3", "--music", str(path), "--output", str(tmp_path / "out"), "--progress", "none"]
    assert main(words) == main([*words, "--bpm", "300"]) == WRONG_INPUT
    first, second = capsys.readouterr().err.splitlines()
    assert re.match(f"(error: )?{re.escape(str(path))}: .*{reason}.*--bpm", first)
    assert "give one of them" in second
