"""The studies: chapter 10 of the thesis, PSoup's and our own, one module each."""
