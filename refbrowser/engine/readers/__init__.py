"""Which other software reads a dataset: what arrays need of a reader, and rules that say who has it."""
