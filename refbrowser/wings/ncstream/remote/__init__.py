"""CDM Remote: asking servers, and understanding what they answer."""
