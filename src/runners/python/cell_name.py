"""The file name of a cell, which shows in syntax errors and warnings.

Jupyter's kernel names a cell by the MurmurHash2 (32 bit) of its source under a fixed seed; the same
number here lets `invalid syntax (1843956808.py, line 1)` agree with the real server's.
"""

import os
import struct

_SEED = 0xC70F6907
_FACTOR = 0x5BD1E995
_MASK = 0xFFFFFFFF


def _murmur2(data, seed):
    hashed = (seed ^ len(data)) & _MASK
    whole = len(data) & ~3
    for (word,) in struct.iter_unpack("<I", data[:whole]):
        word = word * _FACTOR & _MASK
        word ^= word >> 24
        hashed = (hashed * _FACTOR & _MASK) ^ (word * _FACTOR & _MASK)
    if whole < len(data):
        hashed = (hashed ^ int.from_bytes(data[whole:], "little")) * _FACTOR & _MASK
    hashed ^= hashed >> 13
    hashed = hashed * _FACTOR & _MASK
    return hashed ^ (hashed >> 15)


def cell_name(source):
    number = _murmur2(source.encode("utf-8", "surrogatepass"), _SEED)
    return "/tmp/stepbox_%d/%d.py" % (os.getpid(), number)
