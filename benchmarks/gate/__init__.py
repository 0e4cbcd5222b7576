"""The regression gate: ratios within one run, compared with committed ones."""
