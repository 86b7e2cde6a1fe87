"""Receiving and sending UDP datagrams, on the loopback address by default."""

from __future__ import annotations

import ipaddress
import socket
import threading
import time
from collections import deque
from dataclasses import dataclass

from ..base.errors import InvalidValue
from .datagram import MAX_BYTES

LOOPBACK, PORT = "127.0.0.1", 9763
"""Default address and port of streams."""
BUFFER_BYTES = 1 << 22
"""[bytes] Requested size of the system's receive buffer; the system may provide less."""
MAX_WAITING = 4096
"""Largest number of waiting datagrams; more are discarded and counted."""
POLL_INTERVAL = 0.1
"""[s] Interval at which the receiver checks whether it was closed."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """One datagram.

    Attributes:
        data: its bytes.
        time: [s] when it was read from the system, of `time.perf_counter`.
        source: address and port of the sender.
    """

    data: bytes
    time: float
    source: tuple[str, int]


class UdpReceiver:
    """Receives the datagrams of one port in a thread, so that each has its time of arrival.

    Raises:
        InvalidValue: the address is not one of this computer, or another program uses the port.
    """

    def __init__(self, address: str = LOOPBACK, port: int = PORT) -> None:
        self._waiting: deque[Arrival] = deque()
        self._came, self._closed = threading.Condition(), False
        self.overrun = 0
        """Number of datagrams that were discarded because too many waited."""
        self._socket = _socket(address)
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER_BYTES)
            self._socket.bind((address, port))
        except OSError as error:
            self._socket.close()
            raise InvalidValue(
                f"port {port} of {address} cannot be opened ({error.strerror}): name another --port, or end the "
                "program that uses it"
            ) from None
        self._socket.settimeout(POLL_INTERVAL)
        self.port = int(self._socket.getsockname()[1])
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def receive(self, timeout: float) -> list[Arrival]:
        """Wait for datagrams for at most ``timeout`` seconds, and return all that have arrived."""
        with self._came:
            self._came.wait_for(lambda: bool(self._waiting), timeout)
            found = list(self._waiting)
            self._waiting.clear()
        return found

    def close(self) -> None:
        """Close the port."""
        self._closed = True
        self._thread.join()
        self._socket.close()

    def _run(self) -> None:
        while not self._closed:
            try:
                data, source = self._socket.recvfrom(MAX_BYTES + 1)
            except TimeoutError:
                continue
            except OSError:
                continue  # for example a system's report on an earlier datagram; the next one may succeed
            arrived = Arrival(data, time.perf_counter(), (source[0], source[1]))
            with self._came:
                if len(self._waiting) < MAX_WAITING:
                    self._waiting.append(arrived)
                    self._came.notify()
                else:
                    self.overrun += 1


class UdpSender:
    """Sends datagrams to one address.

    Raises:
        InvalidValue: not an IP address.
    """

    def __init__(self, address: str = LOOPBACK, port: int = PORT) -> None:
        self._to, self._socket = (address, port), _socket(address)

    def send(self, data: bytes) -> None:
        """Send a datagram; whether it is received is unknown.

        Raises:
            InvalidValue: the system cannot send it.
        """
        try:
            self._socket.sendto(data, self._to)
        except ConnectionRefusedError:
            pass  # no receiver yet
        except OSError as error:
            raise InvalidValue(f"cannot send to {self._to[0]} ({error.strerror})") from None

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()


def is_loopback(address: str) -> bool:
    """Whether an address is a loopback address.

    Raises:
        InvalidValue: not an IP address.
    """
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        raise InvalidValue(f"{address!r} is not an IP address such as {LOOPBACK}") from None


def _socket(address: str) -> socket.socket:
    is_loopback(address)
    return socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM)
