"""Stores of the draft of 2019 as a target of exports."""
