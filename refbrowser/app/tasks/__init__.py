"""Work off the window's thread: what runs it, and what lets the newest of its kind win."""
