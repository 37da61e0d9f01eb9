"""Files of Awkward Array 0.x: what their arrays are made of, and what they would have run."""
