"""Figures and films of arrays: as files, for papers and talks."""
