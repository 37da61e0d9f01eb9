"""Those who work on an export beside the program that runs it."""
