"""What is done with a dataset: reading selections, exporting, and the jobs that carry it out."""
