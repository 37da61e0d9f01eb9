"""Names on a disk: those that the program chooses itself, and how what was made gets its final one."""
