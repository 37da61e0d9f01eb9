"""ncstream and CDM Remote: streams of messages, in files and from servers."""
