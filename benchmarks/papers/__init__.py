"""Each paper's tables beside ours."""
