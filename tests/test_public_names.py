"""What `import solver` offers."""

from __future__ import annotations

import subprocess
import sys

import pytest

import solver


@pytest.mark.parametrize("name", solver.__all__)
def test_every_public_name_exists_and_is_documented(name: str) -> None:
    """A name that is promised can be had, and tells in words of its own what it is."""
    value = getattr(solver, name)
    if name == "VERSION":
        return
    own = vars(value).get("__doc__") if isinstance(value, type) else value.__doc__
    assert own, f"{name} has no docstring of its own"
    assert not own.startswith(f"{name}("), f"{name} only has the docstring that a dataclass makes up"


def test_import_is_cheap() -> None:
    """`import solver` loads neither NumPy nor Pinocchio: the add-on may import it before either is there."""
    code = "import solver, sys; print('numpy' in sys.modules, 'pinocchio' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_unknown_name_is_an_attribute_error() -> None:
    """Asking for what does not exist fails as for any module."""
    with pytest.raises(AttributeError, match="nonsense"):
        solver.nonsense  # noqa: B018
