"""The parts of the report's page: words, tables, and charts drawn as SVG."""
