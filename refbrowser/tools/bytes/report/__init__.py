"""The bytes of a file as a picture: who owns what, what a view uses, how it is read and what that costs."""
