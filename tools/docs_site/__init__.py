"""Makes the pages of the documentation site that come from signatures, knowledge, parsers and fixtures."""
