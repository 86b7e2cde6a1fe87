"""What the data determine: exact laws of joints, and the same answer before a recording."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.dynamics import integrate
from solver.identification.base_parameters import base_parameters
from solver.identification.consistent import ConsistentOptions, consistent
from solver.identification.determined import joint_moments, link_groups
from solver.identification.expected import PERSON_RESIDUALS, expect_determined
from solver.rigs import hoap3, human
from solver.scene.determined import (
    DATA,
    MASS_KIND,
    MOMENT_KIND,
    SHAPE,
    TABLES,
    DeterminedQuantity,
    describe_determined,
)
from solver.skeleton.rig import Rig
from solver.values.inertials import MASS
from solver.values.motion import Motion
from tests.identification.bodies import other_body, posterior_of, regression_of, small_rig
from tests.random_motion import every_joint_rig


def test_first_moments_about_joints_are_base_parameters_and_masses_between_sliding_joints() -> None:
    """For every kind of joint the wrench depends on the former; on a subtree's mass only if its own joint slides."""
    rig = every_joint_rig()
    regrouping = base_parameters(rig).regrouping
    outside = np.eye(regrouping.shape[1]) - np.linalg.pinv(regrouping) @ regrouping
    assert np.abs(joint_moments(rig).reshape(-1, len(outside)) @ outside).max() < 1e-9
    for joint, below in zip(rig.joints[1:], rig.descendants[1:]):
        mass = np.zeros((len(rig.links), 10))
        mass[below, MASS] = 1.0
        assert (np.abs(mass.ravel() @ outside).max() < 1e-9) == joint.slides


@pytest.mark.parametrize(
    ("rig", "limbs", "trunk"),
    [
        (human(1.7, 65.0, "female"), 5, {"pelvis", "torso"}),
        (human(1.7, 65.0, "female", trunk="three", shoulders="girdle"), 5, {"pelvis", "abdomen", "torso"}),
        (hoap3(), 4, {"waist", "chest"}),
        (small_rig(), 3, {"trunk"}),
    ],
    ids=["person", "person with girdles", "robot", "small body"],
)
def test_limbs_and_trunk_are_the_whole_body(rig: Rig, limbs: int, trunk: set[str]) -> None:
    """Limbs and trunk have no link in common and are all links; every other link with mass stands for itself."""
    (name, whole, _), *others = link_groups(rig)
    parts = [members for _, members, is_limb in others if is_limb]
    assert (name, whole.all()) == ("total mass", True)
    assert len(parts) == limbs + 1
    assert np.array_equal(np.sum(parts, axis=0), whole)
    assert {rig.links[k] for k in np.flatnonzero(parts[-1])} == trunk
    assert np.array_equal(np.sum([m for _, m, _ in others if m.sum() == 1], axis=0), rig.masses > 0.0)


def test_rich_data_determine_moments_but_not_single_masses() -> None:
    """Without noise all first moments and the total mass are known; limbs follow with the prior's shape, which splits
    them."""
    rig = small_rig()
    options = ConsistentOptions(data_inflation=1.0, noise_variance=1e-4)
    regression = regression_of(rig, other_body(rig), frames=300)
    found = posterior_of(regression, consistent(regression, rig, options), rig, options)
    moments = [one for one in found.determined if one.kind == MOMENT_KIND]
    masses = {one.name: one for one in found.determined if one.kind == MASS_KIND}
    assert {one.source for one in moments} == {DATA}
    assert masses["total mass"].source == DATA
    assert {masses[name].source for name in ("trunk", "left arm to left hand")} == {SHAPE}
    assert {masses[name].source for name in ("left arm", "left hand")} == {TABLES}
    fixed = replace(options, constraints=replace(options.constraints, fixed_links=("left_hand", "left_arm")))
    held = posterior_of(regression, consistent(regression, rig, fixed), rig, fixed).determined
    assert {one.source for one in held if set(one.links) <= {"left_hand", "left_arm"}} == {TABLES}


def swinging(rig: Rig, rate: float, size: float = 0.3) -> Motion:
    """Two seconds in which every coordinate swings, at a rate [1/s]."""
    times = np.arange(0.0, 2.0, 1.0 / rate)
    phase = 2.0 * np.pi * np.linspace(0.3, 1.2, rig.nv)
    y, v, a = (size * phase**k * np.sin(times[:, None] * phase + 0.5 * np.pi * k) for k in range(3))
    return Motion(times, integrate(rig, rig.neutral, y), v, a)


def test_longer_motion_is_expected_to_determine_more_than_standing() -> None:
    """Before a recording: a still body determines hardly more than its mass, longer motion more than shorter, and as
    much at any rate of its samples. No wrench is predicted better than motions are tracked."""
    rig = human(1.7, 65.0, "female")
    moving = swinging(rig, 50.0)
    rested, short, long = (
        expect_determined(rig, motions) for motions in ([swinging(rig, 50.0, 0.0)], [moving], [moving] * 9)
    )
    robot = hoap3()
    fine, coarse = (expect_determined(robot, [swinging(robot, rate)]) for rate in (1000.0, 25.0))
    for found, other in ((short, expect_determined(rig, [swinging(rig, 25.0)])), (coarse, fine)):
        np.testing.assert_allclose([q.ratio for q in found[1:]], [q.ratio for q in other[1:]], rtol=0.05)
    np.testing.assert_allclose(*(np.concatenate([one.value for one in each]) for each in (short, long)))
    assert rested[0].source == DATA
    assert sum(one.source == DATA for one in rested) < 0.5 * sum(one.source == DATA for one in long)
    ratios = np.array([[one.ratio for one in each] for each in (rested, short, long)])
    assert np.all(ratios[2] <= ratios[1] + 1e-9)
    np.testing.assert_array_less(1.9 * PERSON_RESIDUALS, long[-1].half_width)
    assert ratios.sum(axis=1)[2] < 0.9 * ratios.sum(axis=1)[1] < 0.9 * ratios.sum(axis=1)[0]


def test_a_sentence_names_each_class_and_the_prior() -> None:
    """Masses have both intervals, single links are not listed, and a class without quantities has no sentence."""
    limb = DeterminedQuantity(MASS_KIND, "thigh to foot", ("thigh", "foot"), SHAPE, *np.array([[9.0], [0.5], [1.2]]))
    link = DeterminedQuantity(MASS_KIND, "thigh", ("thigh",), TABLES, *np.array([[7.0], [1.0], [1.1]]))
    shape, split = describe_determined([limb, link], "the tables of Anyone")
    assert shape.endswith("thigh to foot 9.00 ± 0.5 kg (prior ± 1.2)")
    assert split == "Split by the tables of Anyone: the masses of single links"
