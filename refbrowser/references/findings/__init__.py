"""What is wrong with a document: findings with their places."""
