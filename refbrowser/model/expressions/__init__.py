"""Expressions that derive an array from others: their grammar, their functions, and what units become."""
