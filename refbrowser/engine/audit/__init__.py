"""Audits: what a dataset's references lead to is looked at, as far as is asked for."""
