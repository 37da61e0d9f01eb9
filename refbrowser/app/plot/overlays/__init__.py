"""What is drawn over a picture: lines of equal values, and arrows."""
