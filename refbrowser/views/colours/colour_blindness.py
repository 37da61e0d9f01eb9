"""Whether colours are told apart by readers who see fewer of them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

#: What is seen of linear red, green and blue without one kind of cones (Machado and others, 2009).
_SEEN = np.array(
    [
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    ]
)
_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
_WHITE = np.array([0.9505, 1.0, 1.089])
#: Colours that are compared, how far apart those are that may be alike, and the least difference of others
#: (in the units of CIELAB, of which 2 are just seen side by side).
_COMPARED, _NEIGHBOURS, _LEAST = 17, 3, 8.0


def are_told_apart(colours: npt.NDArray[np.uint8], *, cyclic: bool = False) -> bool:
    """Return whether colours of a map, shape (n, 3), that are not close in it look different to everybody.

    To those too who see no red, no green or no blue. The ends of a cyclic map are close.
    """
    places = np.linspace(0, len(colours) - 1, _COMPARED).round().astype(int)
    numbers = np.arange(_COMPARED)
    apart = np.abs(numbers[:, None] - numbers[None])
    if cyclic:
        apart = np.minimum(apart, _COMPARED - 1 - apart)
    taken = colours[places] / 255.0
    linear = np.where(taken <= 0.04045, taken / 12.92, ((taken + 0.055) / 1.055) ** 2.4)
    for seen in _SEEN:
        lab = _lab(np.clip(linear @ seen.T, 0, 1))
        differences = np.linalg.norm(lab[:, None] - lab[None], axis=2)
        if differences[apart >= _NEIGHBOURS].min() < _LEAST:
            return False
    return True


def _lab(linear: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    part = linear @ _XYZ.T / _WHITE
    scaled = np.where(part > 0.008856, np.cbrt(part), 7.787 * part + 16 / 116)
    x, y, z = scaled.T
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=1)
