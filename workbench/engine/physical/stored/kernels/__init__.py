"""The table of kernels: functions of SQL over Arrow's columns, with the values, the NULLs and the bits of Spark."""
