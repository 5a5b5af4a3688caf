"""The paper's printed tables, with errata beside them."""
