"""The command line: options, the main job, and one module for each subcommand."""
