"""Help inside the program: the list of keys, and the pages of the manual."""
