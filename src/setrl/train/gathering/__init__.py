"""What all trainers ask functions and judges about the samples of a step, and what they log."""
