"""Reference documents: reading, templates, gen rules, the Version 0 view, edits."""
