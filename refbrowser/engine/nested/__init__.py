"""Values that are lists, records, options and unions of one another: read by rows, counted, drawn."""
