"""The v3 core protocol drafts of 2019 and 2020."""
