"""Section 5 of the paper: config -> rows -> tables and figures. Run it with ``make reproduce``."""
