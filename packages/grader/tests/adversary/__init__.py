"""An adversary for the grader: near misses of golds, and rewrites that keep their meaning.

Every gold is a value whose meaning is known: a tree of numbers and symbols, a tuple, a matrix, a
number with a base. What is true of a mutated gold is decided from these values (numbers at random
points, structure exactly), never by the grader or by the parser that the grader uses.
"""
