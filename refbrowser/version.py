"""The version of the program, which stores, messages and workers name."""

from __future__ import annotations

__version__ = "0.2.0"
