"""Editors of templates, gen rules and references, and the live Version 0 preview beside them."""
