"""What commands and pages of one window work with: its centre, tree, navigation, bars and documents."""
