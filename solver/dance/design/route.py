"""The short way through postures: every one once, from home and back."""

from __future__ import annotations

import numpy as np


def shortest_route(distance: np.ndarray) -> list[int]:
    """Order (P,) in which to visit entries 1 ... P from and back to entry 0: nearest neighbour, then 2-opt."""
    distance = np.pad(distance, (0, 1), mode="wrap")  # home once more, as the end
    count = len(distance) - 2
    left, route = set(range(1, count + 1)), [0]
    while left:
        nearest = min(left, key=lambda k: (distance[route[-1], k], k))
        route.append(nearest)
        left.remove(nearest)
    route.append(count + 1)
    improved = True
    while improved:
        improved = False
        for i in range(1, len(route) - 2):
            for j in range(i + 1, len(route) - 1):
                old = distance[route[i - 1], route[i]] + distance[route[j], route[j + 1]]
                new = distance[route[i - 1], route[j]] + distance[route[i], route[j + 1]]
                if new < old - 1e-9:
                    route[i : j + 1] = route[i : j + 1][::-1]
                    improved = True
    return route[1:-1]
