"""The sidebar tab "Dance", in the order of the work."""
