"""Files of Awkward Array 0.x: expressions that name blobs, and what they build. Nothing in a file is run."""
