"""The experiments of the five papers: what is printed, what is measured, whether the trend holds (``make paper``)."""
