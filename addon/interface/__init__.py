"""The next step that the tab offers, the overlays that are registered, and the background command."""
