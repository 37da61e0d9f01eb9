"""The list of problems, the marks in the tree, and the way from a problem to its place."""
