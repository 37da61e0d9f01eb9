"""The table of reference keys, and the raw value of one."""
