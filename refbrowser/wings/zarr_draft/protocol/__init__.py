"""The operations of the draft of 2019 on stores in memory, in folders and in zip files."""
