"""The commands of the submenu CDM Remote."""
