"""What a button or a verb does with a dance, as functions that return values."""
