"""Every constructor and spelling of Awkward 0, with the values and the type that each stands for."""

from __future__ import annotations

from awkward0_constructs_basic import BASIC
from awkward0_constructs_others import OTHERS

CONSTRUCTS = [*BASIC, *OTHERS]
