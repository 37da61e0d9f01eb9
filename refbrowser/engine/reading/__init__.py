"""Reading selections of arrays, of whatever their values are made."""
