/* What the application and the simulator say to each other over their socket, one request and one answer at a time.
 *
 * Request: u32 kind, u32 bytes, and so many bytes. Answer: i32 error of the CUDA runtime API, u32 bytes, and so many
 * bytes. Numbers are little-endian, structures have no padding, texts are UTF-8 without a final zero.
 * ptxtool/applications/protocol.py has the other end; a test compares the two.
 */
#ifndef PTXTOOL_PROTOCOL_H
#define PTXTOOL_PROTOCOL_H

enum message {
    MESSAGE_HELLO = 1,      /* u32 process, u32 runtime (11, 12, 13), u32 architecture of each PTX text (75: sm_75)
                             * -> DEVICE, the device's name; the memory as a file descriptor */
    MESSAGE_MALLOC = 2,     /* u64 bytes, u64 alignment -> u64 address */
    MESSAGE_FREE = 3,       /* u64 address, text of the call -> */
    MESSAGE_MODULE = 4,     /* the bytes of a fat binary -> u32 module */
    MESSAGE_KERNEL = 5,     /* u32 module, name -> u32 kernel, u32 parameters, and a PARAMETER for each */
    MESSAGE_VARIABLE = 6,   /* u32 module, name -> u64 address, u64 bytes */
    MESSAGE_LAUNCH = 7,     /* LAUNCH, the parameters' bytes -> f64 simulated seconds so far, what the kernel printed */
    MESSAGE_OCCUPANCY = 8,  /* u32 kernel, u32 threads, u64 dynamic shared bytes -> u32 CTAs per SM, u32 CTAs of a
                             * cluster by the kernel's head, 1 if it says none */
    MESSAGE_MISSING = 9,    /* name of a call that this runtime does not have -> */
    MESSAGE_REFUSED = 10,   /* text: why a call is wrong -> */
    MESSAGE_RANGE = 11,     /* u64 address, u64 bytes, text of the call: memory that is not one allocation -> */
    MESSAGE_LIMIT = 12,     /* u32 cudaLimit, u64 bytes -> */
    MESSAGE_NEEDS = 13,     /* u32 kernel -> NEEDS */
    MESSAGE_TEXTURE = 14,   /* TEXTURE -> u64 handle */
    MESSAGE_UNTEXTURE = 15, /* u64 handle -> */
    MESSAGE_BIND = 20,      /* u32 module, TEXTURE, name of a texture or surface reference -> */
    MESSAGE_UNBIND = 21,    /* u32 module, name -> */
    MESSAGE_KERNELS = 22,   /* u32 module -> the name of each kernel, with a final zero */
};

#pragma pack(push, 1)
struct device_record { /* DEVICE */
    uint64_t memory_bytes, shared_bytes_cta, shared_bytes_sm, constant_bytes, reserved_shared_bytes;
    uint32_t major, minor, sms, registers_cta, registers_sm, threads_sm, ctas_sm, core_khz, memory_khz, bus_bits, l2_bytes;
    uint32_t tracks_writes; /* 1: in the file, a byte for each byte of memory follows, 1 where it was written */
};

struct needs_record { /* NEEDS: of a thread, and of a CTA; ptx_version 75: its PTX is for compute_75 */
    uint32_t registers, most_threads, ptx_version, target;
    uint64_t shared_bytes, constant_bytes, local_bytes;
};

struct parameter_record { /* PARAMETER */
    uint32_t offset, bytes;
};

struct texture_record { /* TEXTURE, or a surface: texels in rows that are `pitch` bytes apart, rows in planes */
    uint64_t address, pitch, width, height, depth; /* height and depth 0: there is no such axis */
    uint32_t is_surface, is_layered, bits, channels, sort; /* sort: 0 signed, 1 unsigned, 2 floating point */
    uint32_t address_modes[3], is_linear, reads_fraction, is_normalized;
};

struct launch_record { /* LAUNCH */
    uint32_t kernel, grid[3], block[3], is_cooperative, cluster[3]; /* cluster: zeros where the launch asks for none */
    uint64_t dynamic_shared;
};
#pragma pack(pop)

#endif
