"""Reads damaged files in processes of their own, each input under a limit of time and memory.

An input is a sample and a seed. Any exception from reading it other than this program's own errors is a trouble, and so
are a crash of the process, and more processor time or memory than `Limits` admits. A process that does not come back is
killed, and another one goes on behind the input that hung.

``python -m tests.faults.watchdog NAME SEED`` reads one input again and shows what happens; ``bit`` behind it means the
sample with one bit flipped.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from solver.base.errors import SolverError
from tests.faults.mutations import coprime, mutated, with_flipped_bit
from tests.faults.samples import Sample, samples


@dataclass(frozen=True, slots=True)
class Limits:
    """What one input may take.

    Attributes:
        seconds: of processor time.
        patience: [s] by the clock until a process counts as hanging, however busy the machine is.
        memory: [bytes] that stay resident.
        addresses: [bytes] beyond the first ones: what requests more gets none, so that no machine is brought down.
    """

    seconds: float = 5.0
    patience: float = 60.0
    memory: int = 500 << 20
    addresses: int = 2 << 30


LIMITS = Limits()
POLL = 0.05
"""[s] between looks at the processes."""
SHOWN = 3000
"""Bytes of a damaged file that are printed."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """An input that was not handled: its sample and seed, what happened, and where in the sources."""

    name: str
    seed: int
    what: str
    place: str = ""

    def __str__(self) -> str:
        return f"{self.name} {self.seed}: {self.what} {self.place}".rstrip()


@dataclass(slots=True)
class Outcome:
    """What became of many inputs.

    Attributes:
        inputs: tried.
        refused: inputs that one of this program's errors refused.
        read: inputs that were read in spite of the damage.
        nameless: refused by an error that does not name the file.
        slowest: (processor seconds, sample, seed).
        largest: (bytes, sample, seed) beyond what the process held.
        troubles: everything else.
    """

    inputs: int = 0
    refused: int = 0
    read: int = 0
    nameless: int = 0
    slowest: tuple[float, str, int] = (0.0, "", 0)
    largest: tuple[int, str, int] = (0, "", 0)
    troubles: list[Trouble] = field(default_factory=list)

    def add(self, other: Outcome) -> None:
        """Count what another process counted."""
        for name in ("inputs", "refused", "read", "nameless"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.slowest, self.largest = max(self.slowest, other.slowest), max(self.largest, other.largest)
        self.troubles += other.troubles

    def of(self, *kinds: str) -> list[Trouble]:
        """Troubles whose words begin with one of these."""
        return [trouble for trouble in self.troubles if trouble.what.startswith(kinds)]

    def places(self) -> list[tuple[int, Trouble]]:
        """How many troubles each place in the sources makes, and one of them; most first."""
        counts = Counter((t.place, t.what.split(":")[0]) for t in self.troubles)
        first = {(t.place, t.what.split(":")[0]): t for t in reversed(self.troubles)}
        return [(count, first[key]) for key, count in counts.most_common()]


Content = Callable[[Sample, int], bytes]
"""The damaged content of a sample by a seed."""
Formats = Callable[[], Mapping[str, Sample]]
"""Samples by name; a function, since it is a process of its own that makes them."""


def fuzzed(sample: Sample, seed: int) -> bytes:
    """Input number ``seed`` of a sample."""
    return mutated(sample.container, sample.content, f"{sample.name} {seed}")


def one_bit(sample: Sample, seed: int) -> bytes:
    """A sample with one bit flipped, each by another seed as long as there are bits."""
    bits = 8 * len(sample.content)
    return with_flipped_bit(sample.content, seed * coprime(bits) % bits)


def run(
    inputs: Sequence[tuple[str, int]],
    content: Content = fuzzed,
    workers: int = 1,
    formats: Formats = samples,
    limits: Limits = LIMITS,
) -> Outcome:
    """Read every input (name of a sample, seed), in ``workers`` processes that are watched."""
    result = Outcome()
    watched = [_Watched(list(inputs[k::workers]), content, formats, limits) for k in range(workers)]
    while any(worker.busy for worker in watched):
        for worker in watched:
            for part in worker.look():
                result.add(part)
        time.sleep(POLL)
    result.troubles.sort(key=lambda trouble: (trouble.name, trouble.seed))
    return result


@cache
def _context() -> Any:
    """How processes start: from one that has imported everything and holds nothing else, where there are such."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    return context


class _Watched:
    """A process that works through inputs, and its successors where it dies."""

    def __init__(self, inputs: list[tuple[str, int]], content: Content, formats: Formats, limits: Limits) -> None:
        self.inputs, self.how, self.limits, self.next = inputs, (content, formats, limits), limits, 0
        self.process: Any = None
        self._start()

    def _start(self) -> None:
        self.busy = self.next < len(self.inputs)
        if not self.busy:
            return
        context = _context()
        self.at, self.since = context.Value("q", -1, lock=False), context.Value("d", 0.0, lock=False)
        self.results, sender = context.Pipe(duplex=False)
        arguments = (self.inputs[self.next :], *self.how, sender, self.at, self.since)
        self.process = context.Process(target=_work, args=arguments, daemon=True)
        self.process.start()
        sender.close()

    def look(self) -> Iterator[Outcome]:
        """What came since the last look; ends a process that hangs and replaces one that died."""
        if not self.busy:
            return
        alive = self.process.is_alive()  # read first: what a dead process sent is all there
        yield from self._received()
        since = self.since.value
        hangs = alive and since > 0.0 and time.time() - since > self.limits.patience
        if alive and not hangs:
            return
        if hangs:
            self.process.kill()
        self.process.join()
        yield from self._received()
        done = int(self.at.value)
        if not hangs and self.process.exitcode == 0:
            self.next += done
        else:
            if done < 0:
                raise RuntimeError(
                    f"a process that reads damaged files ended with {self.process.exitcode} at its start"
                )
            name, seed = self.inputs[self.next + done]
            what = f"hung: {self.limits.patience:g} s" if hangs else f"crashed: exit code {self.process.exitcode}"
            yield Outcome(inputs=1, troubles=[Trouble(name, seed, what)])
            self.next += done + 1
        self._start()

    def _received(self) -> Iterator[Outcome]:
        try:
            while self.results.poll():
                received = self.results.recv()
                if isinstance(received, str):
                    raise RuntimeError(received)
                yield received
        except (EOFError, OSError):
            return


def _work(
    inputs: list[tuple[str, int]], content: Content, formats: Formats, limits: Limits, results: Connection, at: Any,
    since: Any,
) -> None:  # fmt: skip
    """Read inputs one after another; ends early, saying how far it came, when its memory has grown."""
    # what libraries print about bad files is not for the reader of the figures
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    known = formats()
    with TemporaryDirectory() as folder:
        for sample in known.values():  # libraries load and caches fill now
            attempt(sample, 0, sample.content, Path(folder))
        _limit_addresses(limits.addresses)
        for number, (name, seed) in enumerate(inputs):
            at.value = number
            try:
                data = content(known[name], seed)
            except Exception:  # a mistake of the tests: reported, not counted
                results.send(f"the mutation of {name} {seed} failed:\n{traceback.format_exc()}")
                raise
            since.value = time.time()
            part = attempt(known[name], seed, data, Path(folder), limits)
            since.value = 0.0
            results.send(part)
            if part.largest[0] > limits.memory:  # the peak that the system reports never falls
                at.value = number + 1
                return
        at.value = len(inputs)


def attempt(sample: Sample, seed: int, data: bytes, folder: Path, limits: Limits = LIMITS) -> Outcome:
    """Read one damaged file in a folder; what became of it."""
    path, name = folder / sample.file, sample.name
    path.write_bytes(data)
    result = Outcome(inputs=1)
    before, start = peak_memory(), time.process_time()
    try:
        sample.read(path)
        result.read = 1
    except SolverError as error:
        result.refused = 1
        result.nameless = int(sample.named and path.name not in str(error))
        if _had_no_memory(error):
            result.troubles.append(Trouble(name, seed, f"memory: more than {limits.addresses >> 20} MB requested"))
    except Exception as error:
        words = " ".join(str(error).split())[:120]
        result.troubles.append(Trouble(name, seed, f"{type(error).__name__}: {words}", _place(error)))
    spent, grown = time.process_time() - start, peak_memory() - before
    path.unlink()
    if spent > limits.seconds:
        result.troubles.append(Trouble(name, seed, f"slow: {spent:.1f} s"))
    if grown > limits.memory:
        result.troubles.append(Trouble(name, seed, f"memory: {grown >> 20} MB"))
    result.slowest, result.largest = (spent, name, seed), (grown, name, seed)
    return result


def peak_memory() -> int:
    """[bytes] the most that this process ever held at once; 0 where the system does not report it."""
    try:
        import resource
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak << 10


def _limit_addresses(more: int) -> None:
    """Give this process no more than so many bytes of addresses beyond what it has, where the system can."""
    statm = Path("/proc/self/statm")
    if not statm.exists():
        return
    import resource

    now = int(statm.read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + more, now + more))


def _had_no_memory(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, MemoryError):
            return True
        error = error.__cause__ or error.__context__
    return False


def _place(error: BaseException) -> str:
    """The innermost line of this program where an exception came from."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f"{os.sep}solver{os.sep}" in f.filename]
    if not frames:
        return "outside"
    return f"{Path(frames[-1].filename).parent.name}/{Path(frames[-1].filename).name}:{frames[-1].lineno}"


if __name__ == "__main__":
    chosen, number = samples()[sys.argv[1]], int(sys.argv[2])
    damaged = (one_bit if sys.argv[3:] == ["bit"] else fuzzed)(chosen, number)
    with TemporaryDirectory() as place:
        file = Path(place) / chosen.file
        file.write_bytes(damaged)
        print(damaged[:SHOWN])
        chosen.read(file)
        print("read")
