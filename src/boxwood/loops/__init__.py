"""The hot loops: compiled functions on plain arrays, one file to a task.

A file here calls only its own functions, because numba's cache on disk does not notice an edit in another file. For the
same reason it defines the named tuples of arrays that its loops take. `tests/loops/test_copies.py` compares the
copies that this rule makes necessary. Loops take rows as they lie in memory (float32 or float64, C or Fortran order or
strided) and do their arithmetic in float64.
"""
