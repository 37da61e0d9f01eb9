"""What is told of readers: words, lines, JSON, a page and test cases."""
