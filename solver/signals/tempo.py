"""Tempo of music: the period at which onsets in a sound file recur, from the autocorrelation of their strength."""

from __future__ import annotations

import io
import struct
import warnings
from pathlib import Path

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ..base.errors import InputError, InvalidValue
from ..base.files import read_bytes
from ..options.dances import SLOWEST_COUNT

HOP, WINDOW, HIGHEST = 0.01, 0.04, 4000.0
"""[s, s, 1/s] Time between spectra, duration of each, and highest frequency, the same for every sampling rate."""
SMOOTHING = np.hanning(7) / 3.0
"""Weights of neighbouring spectra: 60 ms, so that drummers need not be exact and tones that beat are no onsets.
Derived: their sum is 1."""
SHORTEST, LONGEST = 12.0, 60.0
"""[s] Least duration of a sound that shows a tempo, and most that is read, from its middle."""
LOUDNESS = 100.0
"""Factor on relative magnitudes before their logarithm is taken. Derived: 40 dB below the loudest is nearly silent."""
MULTIPLES, PERIOD_STEP, PRECISION = 16, 5e-4, 0.05
"""Multiples of a period at which onsets must recur, relative step between the periods that are tried, and relative
precision of a period before the doubled one refines it."""
SAME_RECURRENCE = 0.9
"""Share of the best correlation from which a shorter period counts as the beat: every third beat correlates as well."""
LEAST_ONSETS, LEAST_RECURRENCE = 0.007, 0.12
"""Least standard deviation of the onsets' strength, and least mean correlation of it at multiples of the beat. Chosen
on synthetic sounds: tones and chords have up to 0.002 of the first, noise and random syllables up to 0.04 of the
second; clicks at half of the tempo have 0.019 and 0.44, drums with a deviation of 15 ms, a third of them missing, 0.07
and 0.30."""


def read_tempo(path: str | Path) -> float:
    """Tempo [1/min] of the music in a sound file, as `find_tempo` finds it.

    Raises:
        InputError: no .wav file, or one without a tempo; says why.
    """
    from scipy.io import wavfile  # rarely needed

    try:
        with warnings.catch_warnings(action="ignore"):  # about chunks without sound
            rate, sound = wavfile.read(io.BytesIO(read_bytes(path)))
        return find_tempo(sound.reshape(len(sound), -1).mean(axis=1, dtype=float), rate)
    except (ValueError, EOFError, struct.error, UnboundLocalError) as error:
        unreadable = ("is no .wav file that can be read: ", "Convert it, or state")
        problem, remedy = ("", "State") if isinstance(error, InvalidValue) else unreadable
        raise InputError(path, f"{problem}{error}".rstrip("."), remedy=f"{remedy} the tempo with --bpm") from None


def find_tempo(sound: np.ndarray, rate: float) -> float:
    """Tempo [1/min] of a sound (N,) sampled at a rate [1/s].

    It is that of the counts of a dance, 97 to 194: music of half or of twice the tempo has the same counts. Sounds
    slower than 49 beats a minute need onsets between the beats.

    Raises:
        InvalidValue: the sound is too short, not finite or silent, or has no tempo; says which.
    """
    if not len(sound) >= SHORTEST * rate > 0.0:
        raise InvalidValue(f"is too short to have a tempo: at least {SHORTEST:g} s are needed")
    unread = max(len(sound) - int(LONGEST * rate), 0) // 2
    part = sound[unread : len(sound) - unread]
    if not np.ptp(part) > 0.0:
        raise InvalidValue("is silent" if np.isfinite(part).all() else "contains samples that are not finite")
    hop, window = (max(round(rate * seconds), least) for seconds, least in ((HOP, 1), (WINDOW, 4)))
    frames = sliding_window_view(part - part.mean(), window)[::hop] * np.hanning(window)
    spectra = np.abs(np.fft.rfft(frames, axis=1)[:, : round(WINDOW * HIGHEST)])
    rises = np.maximum(np.diff(np.log1p(LOUDNESS / spectra.max() * spectra), axis=0), 0.0).mean(axis=1)
    onsets = np.convolve(rises - rises.mean(), SMOOTHING, "valid")
    shifts = np.arange(len(onsets))
    correlation = np.fft.irfft(np.abs(np.fft.rfft(onsets, 2 * len(shifts))) ** 2)[shifts] / (len(shifts) - shifts)
    periods = SLOWEST_COUNT * np.exp(np.arange(np.log(0.25), PRECISION, PERIOD_STEP))
    lags = periods[:, None] * np.arange(1, MULTIPLES + 1) * (rate / hop)
    recurrence = np.interp(lags, shifts, correlation).mean(axis=1)
    if not (onsets.std() > LEAST_ONSETS and recurrence.max() > LEAST_RECURRENCE * correlation[0]):
        raise InvalidValue("has no tempo: its sounds do not recur at equal times")
    beat = periods[np.argmax(recurrence >= SAME_RECURRENCE * recurrence.max())]
    near = np.abs(np.log(periods / (beat if beat > 0.5 * SLOWEST_COUNT else 2.0 * beat))) < PRECISION
    return float(60.0 / periods[near][recurrence[near].argmax()])
