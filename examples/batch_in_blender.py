# %% [markdown]
# # Batch in Blender
#
# One file per person of a table, each with the body coloured by mass and its masses on the bones as custom properties.
# In Blender with the extension: `blender --background --python examples/batch_in_blender.py`. In a clone, with Blender
# as a Python module: `./dance python examples/batch_in_blender.py`. Without a window each operator runs to completion
# before the next line.

# %%
import os
import sys
from pathlib import Path

import bpy

if not hasattr(bpy.types.Scene, "exciting_dance"):  # in a clone; the extension has registered itself
    from addon import registration

    registration.register()

PEOPLE = (("Ada", 1.62, 55.0, "female"), ("Ben", 1.81, 84.0, "male"))
folder = Path("out/people").absolute()
folder.mkdir(parents=True, exist_ok=True)

# %% [markdown]
# The settings are those of the sidebar. To identify, add recordings to `settings.files` and run the operator
# `identify`.

# %%
for name, height, mass, sex in PEOPLE:
    bpy.data.batch_remove(list(bpy.data.objects))
    settings = bpy.context.scene.exciting_dance
    settings.height, settings.mass, settings.sex = height, mass, sex
    bpy.ops.exciting_dance.import_rig(kind="human")
    body = bpy.context.view_layer.objects.active
    body.name = name
    bones = body.data.bones
    heaviest = max(bones, key=lambda bone: bone["mass"])
    print(f"{name}: {sum(bone['mass'] for bone in bones):.1f} kg on {len(bones)} bones, most in {heaviest.name}")
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / f"{name}.blend"))
print("written:", *sorted(path.name for path in folder.glob("*.blend")))

# %% [markdown]
# Blender 4.5 as a module sometimes hangs when Python exits; Blender itself does not.

# %%
if not bpy.app.binary_path:
    sys.stdout.flush()
    os._exit(0)
