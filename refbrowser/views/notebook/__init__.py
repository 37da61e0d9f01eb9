"""How datasets, arrays and reports show themselves in notebooks and at prompts."""
