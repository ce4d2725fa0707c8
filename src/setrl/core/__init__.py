"""The core: samples → set scores → advantages, as plain functions of arrays.

It needs NumPy alone. `setrl` re-exports what users import.
"""
