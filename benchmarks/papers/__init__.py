"""Each paper's tables compared with ours."""
