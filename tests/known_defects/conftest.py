"""What the tests of known defects share.

Each test here fails today, and names the defect. Who fixes one deletes the mark `xfail`, and the
test stays where its subject is tested. `raises=` names how it fails, so that a test that breaks in
another way (a name that has moved, say) is seen.
"""
