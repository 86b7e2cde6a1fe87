"""The tempo of music, and sounds without one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.io import wavfile

from solver.cli import main, parser
from solver.cli.dance import dance_options
from solver.cli.exit_codes import WRONG_INPUT
from solver.formats.wav import read_tempo
from solver.rigs import human
from solver.signals.tempo import find_tempo

RATE = 8000
SECONDS = np.arange(20 * RATE) / RATE


def drums(bpm: float, jitter: float = 0.0) -> np.ndarray:
    """(N,) Beats of a drum, a softer rattle between them, and a chord that changes at random beats."""
    random, sound, beat = np.random.default_rng(7), np.zeros(len(SECONDS)), 60.0 / bpm
    decay = np.exp(-np.arange(RATE // 10) / (0.02 * RATE))
    drum, rattle = decay * np.sin(2 * np.pi * 150 * SECONDS[: len(decay)]), decay * random.normal(size=len(decay))
    for number in range(int(2 * (SECONDS[-1] - 0.5) / beat)):
        start = max(round((0.5 * number * beat + jitter * random.normal()) * RATE), 0)
        sound[start : start + len(decay)] += 0.4 * rattle if number % 2 else drum
        if random.random() < 0.3:
            tone = np.sin(2 * np.pi * random.choice([220, 277, 330, 392]) * SECONDS[: len(sound) - start])
            sound[start:] += 0.2 * tone * np.exp(-SECONDS[: len(tone)])
    return sound


@pytest.mark.parametrize(
    ("bpm", "counts"), [(60.0, 120.0), (86.4, 172.8), (100.0, 100.0), (128.5, 128.5), (190.0, 190.0), (300.0, 150.0)]
)
def test_the_tempo_is_that_of_the_beats(bpm: float, counts: float) -> None:
    """Of regular and of human drums, beats or their halves or doubles from 97 to 194 a minute are found."""
    assert find_tempo(drums(bpm), RATE) == pytest.approx(counts, rel=2e-3)
    assert find_tempo(drums(bpm, 0.01), RATE) == pytest.approx(counts, rel=5e-3)


def test_loudness_channels_and_sample_type_do_not_change_the_tempo(tmp_path: Path) -> None:
    """Integers of 16 and 8 bits, soft floats and stereo files have the tempo of the sound, which the dance takes."""
    sound = drums(110.0)
    sound /= np.abs(sound).max()
    stereo = np.stack([sound, 0.3 * sound], axis=1).astype(np.float32)
    kinds = [(32000 * sound).astype(np.int16), (127 + 100 * sound).astype(np.uint8), 1e-3 * stereo]
    for number, samples in enumerate(kinds):
        wavfile.write(tmp_path / f"{number}.wav", RATE, samples)
        assert read_tempo(tmp_path / f"{number}.wav") == pytest.approx(110.0, rel=2e-3)
    words = parser().parse_args(["dance", "human", "--music", str(tmp_path / "0.wav"), "--output", "out"])
    assert dance_options(words, human(1.75, 70.0, "male")).bpm == pytest.approx(110.0, rel=2e-3)


NOISE = np.random.default_rng(3).normal(size=len(SECONDS))
WRONG = {
    "not recur": NOISE,
    "do not recur": sum(np.sin(2 * np.pi * f * SECONDS) for f in (220, 277, 330)),
    "silent": np.zeros(len(SECONDS)),
    "is silent": np.pad(np.zeros(70 * RATE), RATE, constant_values=0.5),
    "not finite": np.where(SECONDS == 1.0, np.nan, drums(120.0)),
    "at least 12 s": drums(120.0)[: 5 * RATE],
}


@pytest.mark.parametrize("reason", WRONG)
def test_a_sound_without_a_tempo_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], reason: str) -> None:
    """The verb names the file and the reason, and writes nothing."""
    path = tmp_path / "sound.wav"
    wavfile.write(path, RATE, np.asarray(WRONG[reason], np.float32))
    words = ["dance", "hoap3", "--music", str(path), "--output", str(tmp_path / "out"), "--progress", "none"]
    assert main(words) == WRONG_INPUT
    said = capsys.readouterr().err
    assert str(path) in said
    assert reason in said
    assert "--bpm" in said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "content", [b"ID3\x04song", b"RIFF", b"RIFF\x10\0\0\0WAVEfmt ", b"RIFF\x10\0\0\0WAVEdata\xff\xff\0\0ab"]
)
def test_another_format_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes) -> None:
    """Other and damaged files are named, with a remedy; so is a tempo that is given twice."""
    path = tmp_path / "song.wav"
    path.write_bytes(content)
    words = ["dance", "hoap3", "--music", str(path), "--output", str(tmp_path / "out"), "--progress", "none"]
    assert main(words) == WRONG_INPUT
    assert f"{path}: is no .wav file that can be read" in capsys.readouterr().err
    assert main([*words, "--bpm", "300"]) == WRONG_INPUT
    assert "give one of them" in capsys.readouterr().err
