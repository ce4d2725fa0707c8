"""Set credit through the Tinker protocol: `setrl.train.tinker.client` has the trainer."""
