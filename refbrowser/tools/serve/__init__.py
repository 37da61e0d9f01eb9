"""Serving: a dataset is offered to other programs as CDM Remote."""
