"""The plugins that come with filterkit: each module offers stages, metrics, formats or an engine, as anyone's can."""
