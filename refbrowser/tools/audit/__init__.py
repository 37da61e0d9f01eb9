"""The audit: what references lead to is looked at, as far as is asked."""
