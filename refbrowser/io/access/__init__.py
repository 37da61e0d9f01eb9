"""What a document may read, and reads as they run: local files, segments, tasks."""
