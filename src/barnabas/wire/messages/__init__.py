"""Generated message classes, one module per declaration in `schemas/`; never edited by hand."""
