"""Derived arrays: from an expression to a dataset with the array and its coordinates."""
