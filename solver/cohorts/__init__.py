"""A folder of subjects in, a result of each and one page for all out; a stopped run is resumed."""
