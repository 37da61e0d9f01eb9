"""Datasets offered as CDM Remote."""
