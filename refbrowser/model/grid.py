"""Selections of an array, and the chunks that they touch."""

from __future__ import annotations
