"""Why an element, or a key, shows as it does: the answer to "why is this NaN?"."""
