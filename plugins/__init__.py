"""The stages that come with filterkit; each module is a plugin like anyone's."""
