"""A run writes only its output folder and makes no network calls; the tracer reports both where they happen."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.faults.traces import identify_command, parse_strace, trace_with_audit_hooks

ELSEWHERE = """
import os, socket, subprocess, sys
open("inside/kept.txt", "w").close()
os.mkdir("beside")
os.rename("beside", "moved")
open("/dev/null", "w").close()
try:
    socket.create_connection(("127.0.0.1", 9), 0.1)
except OSError:
    pass
subprocess.run([sys.executable, "-c", "open('by_child.txt', 'w').close(); open('by_child.txt').read()"], check=True)
"""
STRACED = r"""
7 openat(AT_FDCWD</start>, "read.txt", O_RDONLY|O_CLOEXEC) = 3</start/read.txt>
7 openat(AT_FDCWD</start>, "out/written.txt", O_WRONLY|O_CREAT|O_CLOEXEC, 0666) = 3</start/out/written.txt>
7 openat(AT_FDCWD</start>, "/etc/refused", O_WRONLY|O_CREAT, 0666) = -1 EACCES (Permission denied)
8 unlinkat(5</elsewhere/x>, "removed", 0) = 0
8 rename("/elsewhere/a", "/elsewhere/b") = 0
8 symlink("/etc/target", "/elsewhere/link") = 0
8 mkdir("started", 0777 <unfinished ...>
7 connect(3<UNIX-STREAM:[1]>, {sa_family=AF_UNIX, sun_path="/run/nscd"}, 110) = 0
7 socket(AF_INET6, SOCK_DGRAM, IPPROTO_IP) = 4<UDPv6:[2]>
8 sendto(4<TCP:[3]>, "x", 1, 0, {sa_family=AF_INET, sin_port=htons(53)}, 16) = 1
"""


def test_identify_makes_no_network_call_and_writes_only_its_folder(tmp_path: Path) -> None:
    """With its worker processes: nothing outside the folder of results, and not one call to the network."""
    trace = trace_with_audit_hooks(identify_command(tmp_path, "out"), tmp_path)
    assert trace.network == ()
    assert trace.outside(tmp_path / "out") == ()
    assert (tmp_path / "out" / "result.json").exists()
    assert any(path.startswith(str(tmp_path)) for path in trace.written)


def test_writes_outside_the_folder_are_reported(tmp_path: Path) -> None:
    """Files, folders and calls of a program and of its child are found; its own folder and named files are not
    reported."""
    (tmp_path / "inside").mkdir()
    trace = trace_with_audit_hooks([sys.executable, "-c", ELSEWHERE], tmp_path)
    assert any("127.0.0.1" in call for call in trace.network)
    strays = {str(tmp_path / name) for name in ("beside", "moved", "by_child.txt")}
    assert set(trace.outside(tmp_path / "inside")) == strays
    assert str(tmp_path / "inside" / "kept.txt") in trace.written


def test_strace_output_is_parsed() -> None:
    """Files by folder and name, what failed and what was only read left out; other families than this machine's own."""
    trace = parse_strace(STRACED.splitlines(), Path("/start"))
    strays = {"/start/started", "/elsewhere/x/removed", *(f"/elsewhere/{name}" for name in ("a", "b", "link"))}
    assert set(trace.outside(Path("/start/out"))) == strays
    assert set(trace.written) == strays | {"/start/out/written.txt"}
    assert [call.partition("(")[0] for call in trace.network] == ["sendto", "socket"]
