"""The page of the audit, and its commands."""
