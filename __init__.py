"""Exciting Dance as a Blender extension. Blender is imported only when the extension is registered."""


def register() -> None:
    """Register the extension; Blender calls this when it is enabled."""
    from .addon import registration

    registration.register()


def unregister() -> None:
    """Unregister the extension; Blender calls this when it is disabled."""
    from .addon import registration

    registration.unregister()
