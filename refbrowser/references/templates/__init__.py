"""Templates (jinja-str): their grammar, and their values by closures."""
