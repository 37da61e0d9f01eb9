"""Processes in which codecs and libraries of C read foreign bytes, and what holds them."""
