"""Exciting Dance as a Blender extension. Blender is imported on registering only, so that tools may read this file."""


def register() -> None:
    """Blender calls this when the extension is switched on."""
    from .addon import registration

    registration.register()


def unregister() -> None:
    """Blender calls this when the extension is switched off."""
    from .addon import registration

    registration.unregister()
