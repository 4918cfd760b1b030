"""Text on a terminal: lines, paragraphs, tables, and what a stream can show."""
