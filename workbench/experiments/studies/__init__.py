"""The studies: chapter 10 of the thesis, PSoup's and CACQ's, windows, speed; one module each."""
