"""Libraries that read files of data, each in a process with limits."""
