"""The byte map, the plan that is drawn over it, and the table of costs."""
