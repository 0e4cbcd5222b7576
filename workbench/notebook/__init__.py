"""The thin layer between a notebook and the workbench: read a line, call one function, show what came back."""
