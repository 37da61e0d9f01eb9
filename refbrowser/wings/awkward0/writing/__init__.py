"""Arrays and their changes as files of Awkward 0, and as documents that other software reads."""
