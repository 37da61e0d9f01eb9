"""Counts, means and spreads of groups of numbers, merged without losing digits.

Each block gives the mean of its numbers and the sum of their squared distances from it; those of two blocks
give those of both together (Chan, Golub and LeVeque, 1979). Sums of squares, whose digits cancel, are never
subtracted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(slots=True, eq=False)
class Moments:
    """The weight, mean and spread of each of some groups of numbers.

    Attributes
    ----------
    weight
        Sum of the weights, shape (groups,); the count where all weigh 1.
    mean
        The weighted mean; 0 where there is no weight.
    squares
        Weighted sum of the squared distances from the mean.
    total
        Weighted sum of the numbers.
    """

    weight: Floats
    mean: Floats
    squares: Floats
    total: Floats

    @classmethod
    def none(cls, groups: int) -> Moments:
        """Return those of groups without any number."""
        return cls(*(np.zeros(groups) for _ in range(4)))

    @classmethod
    def of(cls, numbers: Floats, weights: Floats | None = None) -> Moments:
        """Return those of each row of `numbers`, shape (groups, n); NaN is no number.

        Parameters
        ----------
        weights
            Of each column, or of each number; None: all weigh 1.
        """
        total = numbers.sum(axis=1) if weights is None else None
        if weights is not None and weights.ndim == 2 and len(weights) == 1:
            weights = weights[0]
        if weights is not None and weights.ndim == 1:
            # Not by a matrix product: that may start threads of its own.
            total = np.einsum("ij,j->i", numbers, weights)
        if total is not None and not np.isnan(total).any():
            return cls._of_all(numbers, weights, total)
        known = ~np.isnan(numbers)
        weighed = known if weights is None else np.where(known, weights, 0.0)
        weight = np.broadcast_to(weighed, numbers.shape).sum(axis=1, dtype=np.float64)
        filled = np.where(known, numbers, 0.0)
        total = (filled * weighed).sum(axis=1)
        mean = _parts(total, weight)
        filled -= mean[:, np.newaxis]
        filled *= filled
        filled *= weighed
        return cls(weight, mean, filled.sum(axis=1), total)

    @classmethod
    def _of_all(cls, numbers: Floats, weights: Floats | None, total: Floats) -> Moments:
        """Return those of numbers that are all known; `weights` are those of the columns."""
        whole = float(numbers.shape[1]) if weights is None else float(weights.sum())
        weight = np.full(len(numbers), whole)
        mean = _parts(total, weight)
        far = numbers - mean[:, np.newaxis]
        if weights is None:
            return cls(weight, mean, np.einsum("ij,ij->i", far, far), total)
        far *= far
        return cls(weight, mean, np.einsum("ij,j->i", far, weights), total)

    def add(self, other: Moments) -> None:
        """Take the numbers of the same groups of another block, too."""
        far, before = other.mean - self.mean, self.weight.copy()
        self.weight += other.weight
        part = _parts(other.weight, self.weight)
        self.squares += other.squares + far * far * before * part
        self.mean += far * part
        self.total += other.total

    def together(self) -> Moments:
        """Return those of all groups as one."""
        weight = self.weight.sum(keepdims=True)
        mean = _parts((self.weight * self.mean).sum(keepdims=True), weight)
        far = self.mean - mean
        squares = (self.squares + self.weight * far * far).sum(keepdims=True)
        return Moments(weight, mean, squares, self.total.sum(keepdims=True))

    def at(self, groups: slice) -> Moments:
        """Return those of some of the groups, which are the same numbers in memory."""
        return Moments(self.weight[groups], self.mean[groups], self.squares[groups], self.total[groups])

    @property
    def deviation(self) -> Floats:
        """The standard deviation of all numbers (divided by n, not by n - 1); NaN without any."""
        variance = np.divide(self.squares, self.weight, out=_nan(self.weight), where=self.weight > 0)
        return np.sqrt(variance)

    @property
    def known_mean(self) -> Floats:
        """The mean; NaN without any number."""
        return np.where(self.weight > 0, self.mean, np.nan)


@dataclass(slots=True, eq=False)
class Extremes:
    """The least and the greatest number of each of some groups; NaN without any."""

    low: Floats
    high: Floats

    @classmethod
    def none(cls, groups: int) -> Extremes:
        """Return those of groups without any number."""
        return cls(_nan(np.zeros(groups)), _nan(np.zeros(groups)))

    @classmethod
    def of(cls, numbers: Floats) -> Extremes:
        """Return those of each row, shape (groups, n)."""
        if not numbers.shape[1]:
            return cls.none(len(numbers))
        low, high = numbers.min(axis=1), numbers.max(axis=1)
        if np.isnan(low).any():
            # Slower, but it passes over what is no number.
            low, high = np.fmin.reduce(numbers, axis=1), np.fmax.reduce(numbers, axis=1)
        return cls(low, high)


def _parts(numbers: Any, whole: Floats) -> Floats:
    return np.divide(numbers, whole, out=np.zeros_like(whole), where=whole != 0)


def _nan(like: Floats) -> Floats:
    return np.full_like(like, np.nan)
