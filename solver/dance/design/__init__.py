"""Design of dances: choose and order postures, and join them by exciting transitions, bonnet2016 Fig. 3."""
