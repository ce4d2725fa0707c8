"""Before a run: checks of a task, one group of samples, what the run takes."""
