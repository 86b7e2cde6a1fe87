"""Colours of the body: quantities, perceptually uniform colour maps, and materials."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import bpy

from ..base import custom_properties
from ..base.scene_rigs import find_rigs
from ..base.solver_api import errors
from .scores import DEVIATION, EXCITATION

if TYPE_CHECKING:
    import numpy as np

    from ..base.solver_api import Rig, SceneResult

COLOUR_KEY = "exciting_dance_colour"
"""Custom property of the armature object: the quantity that colours the body."""
RANGE_KEY, TITLE_KEY = "exciting_dance_colour_range", "exciting_dance_colour_title"
"""Custom properties of the armature object: range of the colours and title of their legend."""
UNKNOWN_COLOUR = (0.16, 0.16, 0.17)
"""sRGB of a link without a value."""
SEQUENTIAL_MAP = "440154 48186a 472d7b 424086 3b528b 33638d 2c728e 26828e 21918c 1fa088 28ae80 3fbc73 5ec962 84d44b addc30 d8e219 fde725"  # noqa: E501
"""Dark violet to yellow in equal steps of lightness (viridis)."""
REVERSED_MAP = " ".join(reversed(SEQUENTIAL_MAP.split()))
"""Yellow to dark violet, for quantities where smaller is better."""
DIVERGING_MAP = "005bb7 166dcb 317fdd 4c92ea 69a6f2 88b8f7 a9cbf7 cbddf4 eeeeee f3d3cc f3b8ab f09d8c e8826f dd6954 ce523d bb3d28 a62914"  # noqa: E501
"""Blue through light grey to red; both halves have the same lightness in OKLab."""
FRACTION_MAP = "e8e8e8 d2e1e3 bbdadd a5d4d5 8ecdcc 78c6c1 61beb6 49b6a9 31ae9b 10a68c 009d7d 00946e 008a60 008051 007642 006c34 006224"  # noqa: E501
"""Light grey (0) to deep green (1) in equal steps of lightness in OKLab."""
ROUND_NUMBERS = (1.0, 1.2, 1.6, 2.0, 2.4, 3.0, 4.0, 6.0, 8.0, 10.0)
"""Ends of legends: also their quarters have few digits."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A quantity that can colour a body.

    Attributes:
        label: title of the legend.
        unit: unit of the legend.
        colour_map: colour map.
        values: computes values (L,) in that unit from a result and its rig, or from a score (L,); NaN where unknown.
        limits: computes the range of the legend from the values.
        description: one sentence for the interface.
        score_name: property of the bones to use instead of inertial parameters: a score of a dance, or what an
            identification determined; empty for inertial quantities.
    """

    label: str
    unit: str
    colour_map: str
    values: Callable[..., np.ndarray]
    limits: Callable[[np.ndarray], tuple[float, float]]
    description: str
    score_name: str = ""


def limits_from_zero(values: np.ndarray) -> tuple[float, float]:
    """Range from 0 to the largest value, rounded up."""
    import numpy as np

    return 0.0, _round_up(float(np.nanmax(np.append(values[np.isfinite(values)], 0.0))))


def limits_around_zero(values: np.ndarray) -> tuple[float, float]:
    """Symmetric range of at least +-10, so that small changes stay pale."""
    import numpy as np

    most = _round_up(float(np.nanmax(np.append(np.abs(values[np.isfinite(values)]), 10.0))))
    return -most, most


def limits_of_percent(values: np.ndarray) -> tuple[float, float]:
    """Range from 0 to 100."""
    return 0.0, 100.0


def _densities(result: SceneResult, rig: Rig) -> np.ndarray:
    from ..base.solver_api import densities

    return densities(result.parameters, rig.volumes)


def _log10(values: np.ndarray) -> np.ndarray:
    import numpy as np

    return np.log10(values)


def limits_of_powers(values: np.ndarray) -> tuple[float, float]:
    """Range between integer powers of ten, three to six decades wide; links beyond it are not excited."""
    import numpy as np

    finite = values[np.isfinite(values)] if np.isfinite(values).any() else np.zeros(1)
    low = float(np.floor(np.min(finite)))
    return low, float(np.clip(np.ceil(np.max(finite)), low + 3.0, low + 6.0))


QUANTITIES: dict[str, Quantity] = {
    "mass": Quantity(
        "Mass, Split by Prior",
        "kg",
        SEQUENTIAL_MAP,
        lambda result, rig: result.parameters.masses,
        limits_from_zero,
        "Mass of each link: the data give whole limbs, the prior splits them",
    ),
    "density": Quantity(
        "Density",
        "kg/m³",
        SEQUENTIAL_MAP,
        _densities,
        limits_from_zero,
        "Mass of each link divided by the volume of its shapes",
    ),
    "limb_mass": Quantity(
        "Limb Mass, by Data and Shape",
        "kg",
        SEQUENTIAL_MAP,
        lambda values: values,
        limits_from_zero,
        "Mass of the limb or trunk that each link belongs to, where the data determine it with the prior's shape",
        custom_properties.LIMB_MASS,
    ),
    "change": Quantity(
        "Mass Change, Split by Prior",
        "%",
        DIVERGING_MAP,
        lambda result, rig: 100.0 * result.mass_change,
        limits_around_zero,
        "How much heavier (red) or lighter (blue) each link is than in the prior",
    ),
    "determined": Quantity(
        "First Moment by Data",
        "%",
        FRACTION_MAP,
        lambda values: 100.0 * values,
        limits_of_percent,
        "Share of each link's first moment about its joint that the data determined; the rest is the prior's",
        custom_properties.DETERMINED,
    ),
    "excitation": Quantity(
        "Condition Number",
        "power of 10",
        REVERSED_MAP,
        _log10,
        limits_of_powers,
        "Condition number of each link's part of the regressor; bright links are well excited by the dance",
        EXCITATION,
    ),
    "deviation": Quantity(
        "Predicted Deviation",
        "%",
        REVERSED_MAP,
        lambda values: 100.0 * values,
        limits_of_percent,
        "Predicted relative standard deviation of each link's base parameters; bright links are well determined",
        DEVIATION,
    ),
}


@dataclass(frozen=True, slots=True)
class Colouring:
    """Colours of a body: quantity, value of each link, and range of the colours."""

    quantity: str
    values: dict[str, float]
    low: float
    high: float

    @property
    def definition(self) -> Quantity:
        """Definition of the quantity."""
        return QUANTITIES[self.quantity]

    @property
    def title(self) -> str:
        """Title of the legend, with the unit."""
        return f"{self.definition.label} [{self.definition.unit}]"


def compute_colouring(armature: bpy.types.Object, quantity: str) -> Colouring:
    """Compute a body's colours from the values on its bones.

    Raises:
        InvalidValue: the bones carry no such values.
    """
    import numpy as np

    from .armature import rig_of
    from .inertials import read_inertials
    from .scores import read_score

    rig = rig_of(armature)
    if quantity not in QUANTITIES:
        raise errors.UnknownName(quantity, QUANTITIES)
    chosen = QUANTITIES[quantity]
    if chosen.score_name:
        score = read_score(armature, chosen.score_name)
        values = chosen.values(np.array([score[link] for link in rig.links]))
    else:
        values = chosen.values(read_inertials(armature), rig)
    return Colouring(quantity, dict(zip(rig.links, values.tolist(), strict=True)), *chosen.limits(values))


def colour_body(scene: bpy.types.Scene, armature: bpy.types.Object, quantity: str) -> Colouring:
    """Colour each link's shape by a quantity, in solid and rendered views.

    All other visible coloured rigs get the same quantity and range, so that one legend applies to all of them. Links
    with an unknown value are grey.

    Raises:
        InvalidValue: the bones of the armature do not carry the quantity.
    """
    import numpy as np

    from .armature import link_shapes, shape_objects
    from .skin import is_skin, show_link_materials, update_borders

    own = compute_colouring(armature, quantity)
    others = [(other, _colouring_or_unknown(other, quantity)) for other in _other_coloured_rigs(scene, armature)]
    coloured = [(armature, own), *others]
    values = np.array([value for _, found in coloured for value in found.values.values()])
    low, high = own.definition.limits(values)
    own = replace(own, low=low, high=high)
    for rig, found in coloured:
        for shape in shape_objects(rig):
            show_link_materials(shape)
        for link, shape in link_shapes(rig):
            value = found.values.get(link, np.nan)
            share = (value - low) / (high - low)
            known = np.isfinite(value)
            set_colour(shape, link, interpolate_colour(own.definition.colour_map, share) if known else UNKNOWN_COLOUR)
        for skin in filter(is_skin, shape_objects(rig)):
            update_borders(skin)
        _store_legend(rig, own)
    return own


def clear_colours(armature: bpy.types.Object) -> None:
    """Remove a body's colours from a character's meshes, which show their own materials again, and its legend."""
    from .armature import shape_objects
    from .skin import restore_materials

    for shape in shape_objects(armature):
        restore_materials(shape)
    for key in (COLOUR_KEY, TITLE_KEY, RANGE_KEY):
        if key in armature:
            del armature[key]


def _other_coloured_rigs(scene: bpy.types.Scene, armature: bpy.types.Object) -> list[bpy.types.Object]:
    """The other coloured rigs of a scene that are visible and local."""
    rigs = (item for item in find_rigs(scene) if item != armature and item.library is None)
    return [item for item in rigs if COLOUR_KEY in item and item.visible_get()]


def _colouring_or_unknown(armature: bpy.types.Object, quantity: str) -> Colouring:
    """A body's colours; all values unknown if its bones do not carry the quantity."""
    try:
        return compute_colouring(armature, quantity)
    except errors.SolverError:
        return Colouring(quantity, {}, 0.0, 0.0)


def _store_legend(armature: bpy.types.Object, colouring: Colouring) -> None:
    """Store what a body's colours mean, for its legend; library overrides keep it too."""
    armature[COLOUR_KEY], armature[TITLE_KEY] = colouring.quantity, colouring.title
    armature[RANGE_KEY] = [colouring.low, colouring.high]
    for key in (COLOUR_KEY, TITLE_KEY, RANGE_KEY):
        armature.property_overridable_library_set(f'["{key}"]', True)


@dataclass(frozen=True, slots=True)
class Legend:
    """Legend of a body's colours: title, range and colour map."""

    title: str
    low: float
    high: float
    colour_map: str


def shown_quantity(armature: bpy.types.Object) -> str:
    """The quantity that colours a body; empty if it is not coloured."""
    named = custom_properties.read_label(armature, COLOUR_KEY)
    return named if named in QUANTITIES else ""


def read_legend(armature: bpy.types.Object) -> Legend | None:
    """The legend of a body's colours; None if it is not coloured. Cheap enough for every redraw."""
    quantity = shown_quantity(armature)
    if not quantity:
        return None
    try:
        low, high = custom_properties.read_array(armature, RANGE_KEY, 2).tolist()
    except errors.InvalidValue:
        return None
    return Legend(custom_properties.read_label(armature, TITLE_KEY), low, high, QUANTITIES[quantity].colour_map)


@cache
def colour_stops(colour_map: str) -> np.ndarray:
    """sRGB in [0, 1] (C, 3) of a colour map at equal steps."""
    import numpy as np

    colours = np.array([[int(entry[i : i + 2], 16) / 255.0 for i in (0, 2, 4)] for entry in colour_map.split()])
    colours.flags.writeable = False
    return colours


def interpolate_colour(colour_map: str, fraction: float) -> tuple[float, float, float]:
    """sRGB in [0, 1] of a colour map at a fraction, which is clipped to [0, 1]."""
    import numpy as np

    colours = colour_stops(colour_map)
    position = float(np.clip(fraction, 0.0, 1.0)) * (len(colours) - 1)
    red, green, blue = (float(np.interp(position, np.arange(len(colours)), channel)) for channel in colours.T)
    return red, green, blue


def srgb_to_linear(colour: tuple[float, float, float]) -> tuple[float, float, float, float]:
    """Scene-linear RGBA of an sRGB colour, as used by materials."""
    import numpy as np

    srgb = np.asarray(colour)
    values = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    return float(values[0]), float(values[1]), float(values[2]), 1.0


def linear_to_srgb(values: np.ndarray) -> np.ndarray:
    """sRGB of scene-linear values in [0, 1]."""
    import numpy as np

    return np.where(values <= 0.0031308, 12.92 * values, 1.055 * np.power(values, 1.0 / 2.4) - 0.055)


def set_colour(shape: bpy.types.Object, link: str, colour: tuple[float, float, float]) -> None:
    """Colour a link through its own plain material, which is created if needed; linked meshes are not changed."""
    from .skin import is_skin, slot_index

    rgba, index = srgb_to_linear(colour), slot_index(shape, link)
    slot = shape.material_slots[index] if index < len(shape.material_slots) else None
    material = None if slot is None else slot.material
    shader = find_shader(material) if material is not None else None
    if material is None or shader is None or material.library is not None:
        made = plain_material(f"{link} skin" if is_skin(shape) else shape.name, colour)
        if slot is None:
            shape.data.materials.append(made)
        else:
            slot.link = slot.link if shape.data.library is None else "OBJECT"
            slot.material = made
        return
    material.diffuse_color = rgba  # type: ignore[assignment]
    shader.inputs["Base Color"].default_value = rgba


def find_shader(material: bpy.types.Material) -> Any:
    """The Principled BSDF node of a material; None if it was removed."""
    return material.node_tree.nodes.get("Principled BSDF") if material.node_tree is not None else None


def plain_material(
    name: str, colour: tuple[float, float, float], *, glow: bool = False, alpha: float = 1.0
) -> bpy.types.Material:
    """A matt material, or an emissive one that shows exactly its colour in any light (``glow``)."""
    material = bpy.data.materials.new(name)
    if material.node_tree is None:
        material.use_nodes = True
    rgba = srgb_to_linear(colour)
    material.diffuse_color = (*rgba[:3], alpha)  # type: ignore[assignment]
    material.roughness = 0.55
    shader = material.node_tree.nodes["Principled BSDF"]
    shader.inputs["Base Color"].default_value = (0.0, 0.0, 0.0, 1.0) if glow else rgba
    shader.inputs["Roughness"].default_value = 0.55
    shader.inputs["Specular IOR Level"].default_value = 0.0 if glow else 0.3
    shader.inputs["Alpha"].default_value = alpha
    if glow:
        shader.inputs["Emission Color"].default_value = rgba
        shader.inputs["Emission Strength"].default_value = 1.0
        # it need not light other objects, and sampling it is expensive
        material.cycles.emission_sampling = "NONE"  # type: ignore[attr-defined]
    return material


def _round_up(value: float) -> float:
    """The smallest round number at or above a positive value; 1 for zero."""
    import numpy as np

    if value <= 0.0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(value))
    return float(next(step * power for step in ROUND_NUMBERS if step * power >= value * (1.0 - 1e-9)))
