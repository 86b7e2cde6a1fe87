"""Datagrams in and out, on this machine's loopback unless another address is named."""

from __future__ import annotations

import ipaddress
import socket
import threading
import time
from collections import deque
from dataclasses import dataclass

from ..errors import InvalidValue
from .datagram import MAX_BYTES

LOOPBACK, PORT = "127.0.0.1", 9763
"""Where a stream is listened for and sent to by default."""
BUFFER_BYTES = 1 << 22
"""[bytes] asked of the system for datagrams that nobody has read yet; it may give less."""
MAX_WAITING = 4096
"""Datagrams that wait to be taken; more are thrown away, and counted."""
POLL_INTERVAL = 0.1
"""[s] between looks at whether the receiver was closed."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """One datagram.

    Attributes:
        data: its bytes.
        time: [s] when it was read from the system, of `time.perf_counter`.
        source: address and port of who sent it.
    """

    data: bytes
    time: float
    source: tuple[str, int]


class UdpReceiver:
    """Datagrams of one port, read by a thread, so that each has the time at which it came.

    Raises:
        InvalidValue: the address is none of this machine's, or another program listens there.
    """

    def __init__(self, address: str = LOOPBACK, port: int = PORT) -> None:
        self._waiting: deque[Arrival] = deque()
        self._came, self._closed = threading.Condition(), False
        self.overrun = 0
        """Datagrams that were thrown away because too many waited."""
        self._socket = _socket(address)
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER_BYTES)
            self._socket.bind((address, port))
        except OSError as error:
            self._socket.close()
            raise InvalidValue(
                f"port {port} of {address} cannot be listened to ({error.strerror}): name another --port, or end the "
                "program that listens there"
            ) from None
        self._socket.settimeout(POLL_INTERVAL)
        self.port = int(self._socket.getsockname()[1])
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def receive(self, timeout: float) -> list[Arrival]:
        """Datagrams that have come, as soon as there is one; none after so many seconds."""
        with self._came:
            self._came.wait_for(lambda: bool(self._waiting), timeout)
            found = list(self._waiting)
            self._waiting.clear()
        return found

    def close(self) -> None:
        """Listen no more."""
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
                continue  # as where a system tells a receiver of what it once sent; there is always another datagram
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
        InvalidValue: it is no address.
    """

    def __init__(self, address: str = LOOPBACK, port: int = PORT) -> None:
        self._to, self._socket = (address, port), _socket(address)

    def send(self, data: bytes) -> None:
        """Send one; whether anybody listens is not known.

        Raises:
            InvalidValue: the system refuses.
        """
        try:
            self._socket.sendto(data, self._to)
        except ConnectionRefusedError:
            pass  # nobody listens yet
        except OSError as error:
            raise InvalidValue(f"nothing can be sent to {self._to[0]} ({error.strerror})") from None

    def close(self) -> None:
        """Send no more."""
        self._socket.close()


def is_loopback(address: str) -> bool:
    """Whether an address never leaves this machine.

    Raises:
        InvalidValue: it is no address.
    """
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        raise InvalidValue(f"{address!r} is no address such as {LOOPBACK}") from None


def _socket(address: str) -> socket.socket:
    is_loopback(address)
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return socket.socket(family, socket.SOCK_DGRAM)


__all__ = ["LOOPBACK", "PORT", "Arrival", "UdpReceiver", "UdpSender", "is_loopback"]
