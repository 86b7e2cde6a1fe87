# %% [markdown]
# # A new marker set
#
# If your laboratory uses marker locations or names that no built-in set has, write a set: a small JSON file with the
# bony landmark of each marker, or its link and the fraction of the way along it.

# %%
import json
from pathlib import Path

import solver
from solver.calibration import load_marker_set
from solver.demo.laboratory import write_trc
from solver.demo.person import HEIGHT, MASS, SEX, record_person, simulate_person

folder = Path("out/other_names")
folder.mkdir(parents=True, exist_ok=True)
record_person(simulate_person(seed=1, seconds=1.0), folder, seed=1)
(static,) = solver.load([folder / "static.trc"])

# %% [markdown]
# A recording with numbered markers. No built-in set fits and the names say nothing: the error lists them.

# %%
numbers = {name: f"P{number:02d}" for number, name in enumerate(static.markers.names, 1)}
renamed = solver.Markers(static.markers.times, tuple(numbers.values()), static.markers.positions)
write_trc(folder / "numbered.trc", renamed)
recordings = solver.load([folder / "numbered.trc"])
try:
    solver.calibrate(recordings, height=HEIGHT, mass=MASS, sex=SEX)
except solver.InputError as error:
    print("refused:", str(error)[:240], "...")

# %% [markdown]
# The set: bony landmarks by name; any other marker by its link, the fraction of the way along it, and an offset
# (forwards, outwards, up) as a fraction of stature. Here the locations are known because a built-in set was renamed.

# %%
known = load_marker_set("plug_in_gait")
locations = {}
for name, number in numbers.items():
    location = known.find_location(name)
    if name in known.landmarks:
        locations[number] = {"landmark": known.landmarks[name]}
    else:
        outwards = -1.0 if location.link.startswith("right") else 1.0
        offset = [location.offset[0], outwards * location.offset[1], location.offset[2]]
        locations[number] = {
            "link": location.link,
            "fraction": location.fraction,
            "offset": [round(x, 4) for x in offset],
        }
mine = folder / "numbered.json"
mine.write_text(
    json.dumps({"name": "numbered", "about": "Markers by number.", "markers": locations, "aliases": {}}, indent=1)
)
print(f"{mine}: {len(locations)} markers, for example P01: {json.dumps(locations['P01'])}")

# %% [markdown]
# With the set the same recording is calibrated; on the command line: `--marker-set numbered.json`.

# %%
calibration = solver.calibrate(recordings, height=HEIGHT, mass=MASS, sex=SEX, marker_set=mine)
print(f"calibrated {calibration.height:.2f} m, markers fit within {1e3 * calibration.rmse:.1f} mm")
