"""Matrices in shared memory: where a descriptor says their elements lie.

A matrix is an arrangement of chunks of 16 bytes. Eight lines of chunks, W bytes a line (16, or the width of the
swizzle), are an atom; a chunk's elements follow each other along k (K-major) or across it, along m or n (MN-major):

    K-major    row r, chunk q of it:   (r % 8) W + (r / 8) stride + (q % (W/16)) 16 + (q / (W/16)) leading
    MN-major   the same with k for r, except that without a swizzle `leading` and `stride` change places

With a swizzle of W bytes the bits 4 and up of an address are exclusive-ored with as many bits from 7 on as chunks of a
line need; a base offset is subtracted from the latter first. With 128 bytes of which 32 stay together (the fifth
generation, for 32-bit elements across k) an atom has four lines, and bits 5 and 6 are exchanged by bits 7 and 8.

Reference: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions", shared memory matrix layout, strides and
matrix descriptor; "Tensor Core 5th Generation", the same.
"""

import numpy as np

from ptxsim.base.jit import flat_u32, njit, record_type, types
from ptxsim.base.program import CONTEXT, OUT_OF_BOUNDS, SHARED
from ptxsim.execute.lanes import fault_in
from ptxsim.execute.tensor.tiles import put_element

_CONTEXT = record_type(CONTEXT)


@njit(types.int64(types.int64, types.int64, types.int64, types.int64))
def swizzled(address, line_bytes, base, atom):
    """The address at which the byte of an address lies, in a matrix with lines of so many bytes."""
    phase = (address >> 7) - base
    if atom == 4:
        return address ^ (phase & 3) << 5
    return address ^ (phase & line_bytes // 16 - 1) << 4


@njit(
    types.int64(types.int64, types.int64, types.int64, types.int64, types.int64, types.boolean, types.int64)
)
def chunk_offset(line, chunk, line_bytes, leading, stride, across, atom):
    """Bytes from a matrix's start to a chunk of a line: a row, or (`across`) an element of k."""
    if across and line_bytes == 16:
        leading, stride = stride, leading
    per_line = line_bytes // 16
    offset = line % atom * line_bytes + line // atom * stride
    return offset + chunk % per_line * 16 + chunk // per_line * leading


@njit(
    types.int64(
        _CONTEXT,
        types.int64,  # the descriptor
        types.int64,  # bytes of a line
        types.boolean,  # MN-major
        types.int64,  # the first row (of A; of B: column)
        types.int64,  # their number
        types.int64,  # elements along k
        types.int64,  # elements in a chunk, bits of one << 8, low bits without a meaning << 16
        types.int64,  # kind
        types.int64,  # format
        types.int64,  # where in the scratch values begin
        types.int64,  # where powers begin
        types.int64,  # from row to row there
        types.int64,  # from element to element along k
        types.int64,  # lines of an atom
    )
)
def load_matrix(
    context,
    descriptor,
    line_bytes,
    across,
    first,
    count,
    k,
    packing,
    kind,
    code,
    values,
    powers,
    row_step,
    k_step,
    atom,
):
    """Decode a matrix of shared memory into the scratch. 0 after a fault."""
    start = (descriptor & 0x3FFF) << 4
    leading, stride = (descriptor >> 16 & 0x3FFF) << 4, (descriptor >> 32 & 0x3FFF) << 4
    base = descriptor >> 49 & 7
    per_chunk, bits, shift = packing & 0xFF, packing >> 8 & 0xFF, packing >> 16
    mask = (np.int64(1) << bits) - 1
    lines, chunks = (
        (k, (first % per_chunk + count - 1) // per_chunk + 1) if across else (count, k // per_chunk)
    )
    for line in range(lines):
        for chunk in range(chunks):
            offset = chunk_offset(
                line if across else line + first,
                chunk + first // per_chunk if across else chunk,
                line_bytes,
                leading,
                stride,
                across,
                atom,
            )
            address = swizzled(start + offset, line_bytes, base, atom)
            if address < 0 or address + 16 > context.shared_bytes:
                return fault_in(context, OUT_OF_BOUNDS, SHARED, 0, np.uint64(address))
            words = flat_u32(context.shared_memory + np.uint64(address), 4)
            for i in range(per_chunk):
                position = i * bits
                word, low = position >> 5, position & 31
                value = np.int64(words[word]) >> low
                if low + bits > 32:
                    value |= np.int64(words[word + 1]) << (32 - low)
                row, column = line, chunk * per_chunk + i
                if across:
                    row, column = column - first % per_chunk, row
                    if row < 0 or row >= count:
                        continue
                place = row * row_step + column * k_step
                put_element(
                    context.tile_scratch, values + place, powers + place, (value & mask) >> shift, kind, code
                )
    return 1
