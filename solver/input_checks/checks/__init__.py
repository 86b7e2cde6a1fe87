"""The checks of recordings, one file each."""
