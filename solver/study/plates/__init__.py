"""The plates under suspicion: what is wrong with measured forces, said with its evidence before anything is fitted."""
