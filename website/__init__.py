"""The documentation site: what MkDocs and its plugins cannot do by themselves. See `mkdocs.yml`."""
