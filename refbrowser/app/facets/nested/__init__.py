"""Lists, records, options and unions: their values as a table that unfolds, and plots of their numbers."""
