"""The page of the window on which a dataset is audited."""
