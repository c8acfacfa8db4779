"""The spreadsheet: documents of cells and sheets, formulas and their calculation, file formats, and the window."""
