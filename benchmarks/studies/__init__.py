"""The benchmarks, one module each; TPC-H and Nexmark are one."""
