"""The selections of a local tree as one filter: tables of what they test, and which rows expensive tests are for."""
