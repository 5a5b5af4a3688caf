"""What the pages of reports and comparisons share: numbers, charts, style, templates."""
