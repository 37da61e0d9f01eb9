"""Commits to a repository as a target of exports."""
