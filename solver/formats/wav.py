"""Sound files (.wav)."""

from __future__ import annotations

import io
import struct
import warnings
from pathlib import Path

from ..base.errors import InputError, InvalidValue
from ..base.files import read_bytes
from ..signals.tempo import find_tempo


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
        problem = "" if isinstance(error, InvalidValue) else "is no .wav file that can be read: "
        raise InputError(path, f"{problem}{error}", remedy="Convert it, or state the tempo with --bpm") from None
