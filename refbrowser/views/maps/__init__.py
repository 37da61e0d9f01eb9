"""Where arrays lie on the Earth, and how the Earth is drawn."""
