"""What a dataset should hold: expectations, held against what is there."""
