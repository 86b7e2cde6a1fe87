# %% [markdown]
# # A person's masses
#
# From marker and force files to the mass, centre of mass and inertia of every segment. The recordings are simulated,
# so the truth is known; replace the folder by your own.

# %%
from pathlib import Path

import solver
from solver.demo.person import HEIGHT, MASS, SEX, record_person, simulate_person

folder = Path("out/recorded")
folder.mkdir(parents=True, exist_ok=True)
person = simulate_person(seed=1, seconds=6.0)
record_person(person, folder, seed=1)
print("recorded:", *sorted(file.name for file in folder.iterdir()))

# %% [markdown]
# Files of one name are one trial. Height and sex determine the prior; the mass is compared with the force plates.

# %%
recordings = solver.load([folder])
settings = solver.Settings(filter="human_8hz")
study = solver.identify(recordings, height=HEIGHT, mass=MASS, sex=SEX, static=("static",), settings=settings)
found = study.identification

# %% [markdown]
# One segment with its interval, its prior, and the share of the data; then the masses of all segments.

# %%
print(found["right_thigh"])
print(f"\n{'segment':18}{'prior':>8}{'found':>8}{'true':>8}  kg")
for link in found.parameters.links:
    prior, identified, true = (values[link].mass for values in (found.prior, found.parameters, person.truth))
    print(f"{link:18}{prior:8.2f}{identified:8.2f}{true:8.2f}")
print(f"{'body':18}{found.prior.total_mass:8.2f}{found.parameters.total_mass:8.2f}{person.truth.total_mass:8.2f}")

# %% [markdown]
# The whole study as files: report.html for people, result.csv for spreadsheets, rig.urdf for other programs.

# %%
written = study.write("out/masses", title="A simulated person", truth=person.truth, simulated=True)
print("\nwritten to out/masses:", *written)
