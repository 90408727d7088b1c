"""From measurements of a path to a link: reads files, fits, writes scenarios, rebuilds, judges."""
