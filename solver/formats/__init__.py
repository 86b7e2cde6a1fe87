"""Files of other programs and of ours in, recordings out, and back."""
