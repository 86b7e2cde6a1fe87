"""Keys and contacts on the timeline in, dances for the solver out, and back."""
