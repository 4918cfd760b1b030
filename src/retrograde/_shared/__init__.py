"""What both cores share, and the rooms above them: sites, operands, hooks, loans, births, files."""
