"""Pinocchio's working memory: its size, and reading it without the bindings."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from solver import engine
from solver.base.errors import InvalidValue
from tests.random_motion import humanoid_rig, random_motion

if engine.NAME != "pinocchio":
    pytest.skip("Pinocchio is not the engine here", allow_module_level=True)

from solver.engine.pinocchio_loader import pin
from solver.engine.pinocchio_model import LARGEST, CopiedViews, data_of, shared_views


@pytest.mark.parametrize("scattered", ["oMi", "v", "a"])
def test_results_that_are_scattered_in_memory_are_copied(scattered: str) -> None:
    """Poses, twists or their rates that do not lie one behind another cannot be viewed as one array."""
    model = humanoid_rig().model
    data = model.createData()
    assert shared_views(data, model.njoints) is not None
    parts = {name: getattr(data, name) for name in ("oMi", "v", "a")}
    parts[scattered] = [part.copy() for part in reversed(list(parts[scattered]))]
    assert shared_views(SimpleNamespace(**parts), model.njoints) is None  # type: ignore[arg-type]


def test_views_on_memory_hold_what_pinocchio_returns_joint_by_joint() -> None:
    """The fast reading of Pinocchio's results equals the slow one, also after a new forward kinematics."""
    rig = humanoid_rig()
    motion = random_motion(rig, 2)
    data = rig.model.createData()
    fast = shared_views(data, rig.model.njoints)
    assert fast is not None
    slow = CopiedViews(data, rig.model.njoints)
    for state in zip(motion.q, motion.v, motion.a):
        pin.forwardKinematics(rig.model, data, *state)
        slow.refresh()
        assert np.abs(slow.rates).max() > 0.1
        for name in ("poses", "twists", "rates"):
            np.testing.assert_array_equal(getattr(fast, name), getattr(slow, name))


def test_a_body_too_large_for_memory_is_refused() -> None:
    """Memory grows with the cube of the joints: a model beyond the limit is rejected, one at it is accepted."""
    model = pin.Model()
    for joint in range(LARGEST):
        model.addJoint(joint, pin.JointModelRX(), pin.SE3.Identity(), f"joint {joint}")
    model.name = "centipede"
    assert len(data_of(model).oMi) == LARGEST + 1
    model.addJoint(LARGEST, pin.JointModelRX(), pin.SE3.Identity(), "one too many")
    with pytest.raises(InvalidValue, match=rf"'centipede' has {LARGEST + 1} degrees of freedom.*at most {LARGEST}"):
        data_of(model)
