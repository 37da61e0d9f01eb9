"""The limits in force."""
