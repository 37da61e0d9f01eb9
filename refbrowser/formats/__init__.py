"""Files to the model and back: one module or folder per format."""
