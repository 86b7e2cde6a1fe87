# %% [markdown]
# # A person's masses
#
# From marker and force files to the mass, centre of mass and inertia of every segment. The recordings here are
# simulated, so the truth is known; put the folder of your own in their place.

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
# Files of one name are one trial. Height and sex choose the table that the identification starts from; the mass is only
# compared with what the force plates say. Fewer bootstrap samples than the default keep this example short.

# %%
recordings = solver.load([folder])
settings = solver.Settings(preset="human_8hz", bootstrap=10)
study = solver.identify(recordings, height=HEIGHT, mass=MASS, sex=SEX, static=("static",), settings=settings)
found = study.identification

# %% [markdown]
# One segment with its interval, the share that the data determined, and what the table had said before.

# %%
print(found["right_thigh"])
print(f"\n{'segment':18}{'table':>8}{'found':>8}{'true':>8}  kg")
for link in found.parameters.links:
    table, here, true = (values[link].mass for values in (found.prior, found.parameters, person.truth))
    print(f"{link:18}{table:8.2f}{here:8.2f}{true:8.2f}")
print(f"{'body':18}{found.prior.total_mass:8.2f}{found.parameters.total_mass:8.2f}{person.truth.total_mass:8.2f}")

# %% [markdown]
# The whole study as files: report.html for the eye, result.csv for a spreadsheet, rig.urdf for other programs.

# %%
written = solver.write_study("out/masses", study, title="A simulated person", truth=person.truth, simulated=True)
print("\nwritten to out/masses:", *written)
