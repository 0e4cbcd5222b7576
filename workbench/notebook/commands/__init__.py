"""The subcommands of ``%argus``, one module for each group; ``registry`` has them all."""
