"""The subcommands of filterkit: each module declares options, makes a document, and writes lines from it."""
