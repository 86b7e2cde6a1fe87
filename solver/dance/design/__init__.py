"""Dances designed: postures chosen, ordered, joined by exciting transitions and verified, bonnet2016 Fig. 3."""
