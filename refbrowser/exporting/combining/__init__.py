"""Many files as one dataset: what they differ in, where each lies, their references as columns of one."""
