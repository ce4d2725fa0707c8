"""The test suites of other projects, run with set credit: `make trl-tests`, `make sb3-tests`."""
