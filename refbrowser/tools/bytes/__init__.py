"""The bytes that reading takes: whose they are, how they are asked for, and what that costs."""
