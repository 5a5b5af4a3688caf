"""Log files: finding, unpacking, recognising and cutting them into rows."""
