"""Small studies of estimators: bandits and the biased maze. Minutes on one core.

Each module has a frozen config and `run(config, out_dir)`, which writes its numbers;
`studies.figures` draws them. Axes in addition to the library's: A arms of a bandit, M batches of N
samples, R seeds.
"""
