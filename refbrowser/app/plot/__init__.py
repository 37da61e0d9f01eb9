"""The plot of an array: lines, images, and text where a picture says nothing."""
