"""The command line as a user or a parent process meets it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import solver
from solver.base.errors import InvalidValue
from solver.cli import find_verbs, main, parser
from solver.cli.extensions import find_extensions
from solver.cli.foreseen import require_forces
from solver.cli.words import removed_trials
from solver.scene.study_folder import MOTION_END
from solver.signals.trial import Recording
from solver.version import __version__
from tests.imports import imports

ROOT = Path(__file__).resolve().parents[2]


def run(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """The command line in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "solver", *arguments]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)


def test_one_version_everywhere() -> None:
    """The solver, the package and the extension's manifest state the same version."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["version"] == __version__
    manifest = ROOT / "blender_manifest.toml"
    if manifest.exists():
        assert tomllib.loads(manifest.read_text(encoding="utf-8"))["version"] == __version__
    assert __version__ in run("--version").stdout


def test_every_verb_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    """Every verb's help shows an example that this very command line accepts as far as its options go."""
    for module in find_verbs():
        verb = module.__name__.rsplit(".", 1)[-1].replace("_", "-")
        with pytest.raises(SystemExit) as stop:
            main([verb, "--help"])
        assert stop.value.code == 0
        examples = re.findall(r"^\s+python -m solver (.+)$", capsys.readouterr().out, re.MULTILINE)
        assert examples
        for example in examples:
            words = [word.strip('"') for word in re.findall(r'"[^"]*"|\S+', example)]
            assert parser().parse_args(words).verb == verb


def test_help_needs_no_pinocchio() -> None:
    """Help and version come without loading the numerical libraries: a wrong installation can still be explained."""
    code = "import sys; from solver.cli import parser; parser(); sys.exit('pinocchio' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0


def test_wrong_input_is_one_line_and_code_2(tmp_path: Path) -> None:
    """A missing file ends with exit code 2, one line that names it, and no output folder."""
    missing = tmp_path / "missing.trc"
    output = tmp_path / "out"
    done = run("calibrate", str(missing), "--height", "1.7", "--mass", "70", "--sex", "male", "--output", str(output))
    lines = done.stderr.strip().splitlines()
    assert done.returncode == 2
    assert len(lines) == 1
    assert lines[0].startswith("error: ")
    assert "missing.trc" in lines[0]
    assert list(tmp_path.iterdir()) == []


def test_identification_needs_forces(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without forces, or with those of a trial of another name, one line says what each trial lacks; nothing is
    written.
    """
    solver.demo.simulated_robot().write(tmp_path)
    motion, wrenches = sorted(tmp_path.iterdir())
    renamed = wrenches.rename(tmp_path / wrenches.name.replace("dance", "other"))
    for files, lacks in (
        ([motion], "dance has no forces."),
        ([motion, renamed], "dance has no forces, other has no motion."),
        ([renamed], "other has no motion."),
    ):
        output = tmp_path / "out"
        assert main(["identify", *map(str, files), "--rig", "hrp2", "--output", str(output), "--progress", "none"]) == 2
        lines = capsys.readouterr().err.splitlines()
        assert len(lines) == 1
        assert f"no trial has motion and forces: {lacks}" in lines[0]
        assert not output.exists()
    with pytest.raises(InvalidValue, match=r"needs no forces\. walk\.c3d: plate_1 cannot be read"):
        require_forces([Recording("walk", warnings=("walk.c3d: plate_1 cannot be read",))])


def test_a_folder_without_results_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`compare` with another folder ends in one line that says which folder is needed."""
    assert main(["compare", str(tmp_path), str(tmp_path / "walk.trc"), "--progress", "none"]) == 2
    assert "is not the folder of a study. Give the folder that `identify --output` wrote" in capsys.readouterr().err


def test_a_file_of_another_type_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A recording in the place of a rig, or forces in the place of markers, are one line that says what is needed."""
    assert main(["dance", str(tmp_path / "walk.trc"), "--output", str(tmp_path / "out"), "--progress", "none"]) == 2
    assert "walk.trc: is of a type that cannot be read (.trc). Give a rig.json, a URDF" in capsys.readouterr().err
    solver.demo.simulated_robot().write(tmp_path)
    wrenches = max(tmp_path.iterdir())
    assert main(["markers", str(wrenches), "--output", str(tmp_path / "set.json"), "--progress", "none"]) == 2
    assert "no recording has markers (dance): give marker files" in capsys.readouterr().err


def test_a_rig_in_an_archive_is_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--rig` takes what `write_rig` writes, also as .npz, and names a missing file."""
    solver.write_rig(tmp_path / "robot.npz", solver.hoap3())
    assert main(["rig", str(tmp_path / "robot.npz"), "--progress", "none"]) == 0
    assert main(["rig", str(tmp_path / "none.npz"), "--progress", "none"]) == 2
    assert "none.npz: the file does not exist" in capsys.readouterr().err


def test_wrong_arguments_are_code_2() -> None:
    """An unknown verb, a missing option or a number that is none is a wrong input, too."""
    for arguments in (["danse"], ["calibrate", "a.trc"], ["rig", "human", "--height", "tall"]):
        assert run(*arguments).returncode == 2


def test_rig_prints_its_masses() -> None:
    """`rig` shows every link and the mass that was asked for."""
    done = run("rig", "human", "--height", "1.7", "--mass", "61.5", "--sex", "female", "--progress", "none")
    assert done.returncode == 0
    assert re.search(r"^total\s+61\.500$", done.stdout, re.MULTILINE)
    assert "left_shank" in done.stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopping_is_clean(number: signal.Signals, tmp_path: Path) -> None:
    """Ctrl-C, and a parent's polite end, leave exit code 130, no traceback and nothing half-written."""
    code = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell's background jobs ignore it
        "from pathlib import Path\n"
        "from solver.__main__ import main\n"
        "from solver.cli import demo\n"
        "from solver.storage.output_folder import write_folder\n"
        "def work(options, progress):\n"
        "    with write_folder(options.output) as folder:\n"
        "        (folder / 'half').write_text('half')\n"
        "        print('working', flush=True)\n"
        "        time.sleep(600)\n"
        "demo.run = work\n"
        f"sys.argv[1:] = ['demo', '--output', {str(tmp_path / 'out')!r}]\n"
        "sys.exit(main())\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline().strip() == "working"
        process.send_signal(number)
        _, errors = process.communicate(timeout=60.0)
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert list(tmp_path.iterdir()) == []


def test_rig_is_written_by_its_suffix(tmp_path: Path) -> None:
    """A rig's .json holds the links and masses that its .urdf holds; another suffix is refused before any work."""
    from solver.rigs import from_urdf
    from solver.scene.rig import read_rig

    for name in ("hoap3.json", "hoap3.urdf"):
        done = run("rig", "hoap3", "--output", str(tmp_path / name), "--progress", "none")
        assert done.returncode == 0
    drawn, rig = read_rig(tmp_path / "hoap3.json"), from_urdf(tmp_path / "hoap3.urdf")
    masses = dict(zip(drawn.links, drawn.masses, strict=True))
    assert {link: masses[link] for link in rig.links} == pytest.approx(dict(zip(rig.links, rig.masses, strict=True)))
    wrong = run("rig", "hoap3", "--output", str(tmp_path / "hoap3.txt"))
    assert wrong.returncode == 2
    assert ".json" in wrong.stderr
    assert sorted(file.name for file in tmp_path.iterdir()) == ["hoap3.json", "hoap3.urdf"]


def test_a_xacro_macro_is_no_body(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that makes URDFs is told from one, by its suffix too, with what to do."""
    path = tmp_path / "robot.urdf.xacro"
    path.write_text("<robot name='x' xmlns:xacro='http://ros.org/xacro'/>")
    assert main(["rig", str(path), "--progress", "none"]) == 2
    told = capsys.readouterr().err
    assert "robot.urdf.xacro: is a xacro macro, not a URDF. Expand it first" in told
    assert len(told.strip().splitlines()) == 1


def test_a_robots_file_is_known_by_what_it_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A URDF that is called .xml is read as one, with a URDF's options; kinds of files that are not read are told."""
    block = '<link name="block"/>'
    path = tmp_path / "robot.xml"
    path.write_text(f'<robot name="called">{block}</robot>')
    assert main(["rig", str(path), "--packages", str(tmp_path), "--up", "z", "--progress", "none"]) == 0
    assert "called: 1 links" in capsys.readouterr().out
    other = tmp_path / "robot.sdf"
    other.write_text("<sdf/>")
    assert main(["rig", str(other), "--progress", "none"]) == 2
    told = capsys.readouterr().err
    assert "robot.sdf: is of a type that cannot be read (.sdf). Give the robot's URDF or MJCF" in told


def test_trials_that_are_replaced_are_named(tmp_path: Path) -> None:
    """Trials whose results a second run removed are named; none otherwise."""
    (tmp_path / f"jump{MOTION_END}").write_bytes(b"")
    assert removed_trials(["squats", "jump"], tmp_path).endswith("removed trials: squats)")
    assert not removed_trials(["jump"], tmp_path)
    assert not removed_trials([], tmp_path)


def test_extensions_add_their_verbs() -> None:
    """Every package with a sub-package ``verbs`` is on the command line, and no other package imports it."""
    extensions = find_extensions()
    assert "solver.fixed_base.verbs" in [extension.__name__ for extension in extensions]
    users = [found for path in (ROOT / "solver").rglob("*.py") for found in imports(path)]
    for extension in extensions:
        package = extension.__name__.split(".")[1]
        assert set(extension.VERBS) <= set(find_verbs())
        assert [str(i) for i in users if i.target[1:2] == (package,) and package not in i.path.parts] == []
