# %% [markdown]
# # A new marker set
#
# Your laboratory glues its markers where no built-in set expects them, or calls them otherwise. A set is a small JSON
# file: which marker sits on which bony landmark, or how far along which link.

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
# A recording of a laboratory that numbers its markers. Nothing fits, and the error says so, with the names it could not
# place and how to write a set.

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
# The set: bony landmarks by name; any other marker by its link, the share of the way along it, and an offset (forwards,
# outwards, up) in shares of stature. Here we know the places because we renamed a set ourselves.

# %%
known = load_marker_set("plug_in_gait")
places = {}
for name, number in numbers.items():
    place = known.find_location(name)
    if name in known.landmarks:
        places[number] = {"landmark": known.landmarks[name]}
    else:
        outwards = -1.0 if place.link.startswith("right") else 1.0
        offset = [place.offset[0], outwards * place.offset[1], place.offset[2]]
        places[number] = {"link": place.link, "fraction": place.fraction, "offset": [round(x, 4) for x in offset]}
mine = folder / "numbered.json"
mine.write_text(
    json.dumps({"name": "numbered", "about": "Markers by number.", "markers": places, "aliases": {}}, indent=1)
)
print(f"{mine}: {len(places)} markers, for example P01: {json.dumps(places['P01'])}")

# %% [markdown]
# With the set the same recording is calibrated; on the command line: `--marker-set numbered.json`.

# %%
calibration = solver.calibrate(recordings, height=HEIGHT, mass=MASS, sex=SEX, marker_set=mine)
print(f"calibrated {calibration.height:.2f} m, markers fit within {1e3 * calibration.rmse:.1f} mm")
