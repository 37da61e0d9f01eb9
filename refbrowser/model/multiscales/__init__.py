"""Multiscale images: the levels of one picture, and where their elements lie."""
