"""Motion as it is measured: samples received, followed within a time budget, recorded; and sent, to try it without."""
