"""Formats: files of other programs and of ours, read into values and written from them."""
