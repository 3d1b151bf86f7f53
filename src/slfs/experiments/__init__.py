"""Section 5 of the paper: config -> rows -> tables and figures. Needs the extra ``all``."""
