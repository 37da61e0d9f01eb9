"""Writing down what a dataset should hold: as it is said, or as it is learned from what is there."""
