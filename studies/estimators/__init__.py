"""The estimators of released trainers, each audited: docs/estimators.md."""
