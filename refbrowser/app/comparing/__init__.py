"""Two datasets side by side, what one takes over of the other, and merging."""
