"""The table of a launch's textures, samplers and surfaces, as compiled code reads it.

A row has ROW_WORDS words of 64 bits, named by the columns below; row 0 is none: its first words are zero, those from
SCRATCH_BYTES on are scratch. A handle, which is what a program holds, is HANDLE_BASE + HANDLE_STEP * row: no address of
any space. An axis that a texture does not have has the extent 1. PLANES is the third axis: depth, layers or faces of
cubes.
"""

from ptxsim.execute.codes import WINDOWS_END

ROW_WORDS = 40
SCRATCH_BYTES = 128  # the place of the scratch in row 0
HANDLE_BASE, HANDLE_STEP = WINDOWS_END, 64

(
    KIND,  # TEXTURE, SAMPLER or SURFACE
    DATA,  # where the texels lie in the simulator's memory
    ADDRESS,  # and in the simulated one: for caches and DRAM only
    WIDTH,
    HEIGHT,
    PLANES,
    CHANNELS,
    BITS,  # of a channel
    SORT,  # UNSIGNED, SIGNED or FLOAT
    READS_FLOAT,  # whole numbers are read as fractions of the greatest
    NORMALIZED,  # coordinates run from 0 to 1 ...
    FORCED,  # ... unless the sampler says that they do not
    LINEAR,
    MODE,  # of three axes
) = range(14)
COMPARE = 16  # how depths are compared
PROPERTIES = 17  # what the program can ask for, in the order of QUERIES
PITCH = 32  # bytes from a row of texels to the next one

TEXTURE, SAMPLER, SURFACE = 1, 2, 3
WRAP, MIRROR, CLAMP, CLAMP_TO_EDGE, BORDER = range(5)  # in the order of PTX
NEVER, LESS, EQUAL, LESS_EQUAL, GREATER, NOT_EQUAL, GREATER_EQUAL, ALWAYS = range(8)  # of COMPARE

QUERIES = (
    *("width", "height", "depth", "channel_data_type", "channel_order", "normalized_coords", "array_size"),
    *("num_mipmap_levels", "num_samples", "memory_layout", "force_unnormalized_coords", "filter_mode"),
    *("addr_mode_0", "addr_mode_1", "addr_mode_2"),
)
SAMPLES = PROPERTIES + QUERIES.index("num_samples")
assert PROPERTIES + len(QUERIES) <= PITCH
