"""The jobs of the command line and the add-on with dances, as functions from values to values."""
