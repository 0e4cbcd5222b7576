"""The selections of a local tree as one filter: tables of what they test, and which rows dear tests are for."""
