"""Words of other languages where PTX is expected (CUDA C++, machine code, LLVM, assemblers), and what PTX calls them.

For hints in diagnostics only: nothing here is accepted. Spelling mistakes need no entry, `nearest` finds those.
"""

TYPES_ELSEWHERE: dict[str, str] = {
    **dict.fromkeys(("int", "i32", "int32", "int32_t", "signed"), "s32"),
    **dict.fromkeys(("uint", "unsigned", "uint32", "uint32_t"), "u32"),
    **dict.fromkeys(("float", "single", "fp32"), "f32"),
    **dict.fromkeys(("double", "fp64"), "f64"),
    **dict.fromkeys(("long", "i64", "int64", "int64_t"), "s64"),
    **dict.fromkeys(("ulong", "uint64", "uint64_t", "ptr"), "u64"),
    **dict.fromkeys(("half", "fp16"), "f16"),
    **dict.fromkeys(("short", "i16", "int16"), "s16"),
    **dict.fromkeys(("char", "i8", "int8"), "s8"),
    **dict.fromkeys(("bool", "i1", "b1", "predicate"), "pred"),
}
INSTRUCTIONS_ELSEWHERE: dict[str, str] = {
    **dict.fromkeys(("cmp", "icmp", "fcmp", "isetp", "fsetp", "dsetp", "setcc"), "setp"),
    **dict.fromkeys(("jmp", "jump", "goto", "br", "b", "brc"), "bra"),
    **dict.fromkeys(("return", "retn"), "ret"),
    **dict.fromkeys(("move", "s2r", "mov32i", "cpy"), "mov"),
    **dict.fromkeys(("load", "ldr"), "ld"),
    **dict.fromkeys(("store", "str"), "st"),
    **dict.fromkeys(("iadd", "iadd3", "fadd", "dadd"), "add"),
    **dict.fromkeys(("imul", "fmul", "dmul"), "mul"),
    **dict.fromkeys(("imad", "xmad"), "mad"),
    **dict.fromkeys(("ffma", "dfma", "hfma"), "fma"),
    **dict.fromkeys(("i2f", "f2i", "f2f", "i2i", "sext", "zext", "trunc", "bitcast"), "cvt"),
    **dict.fromkeys(("sel", "select", "csel"), "selp"),
    **dict.fromkeys(("lsl", "sll"), "shl"),
    **dict.fromkeys(("lsr", "asr", "srl"), "shr"),
    **dict.fromkeys(("__syncthreads", "syncthreads", "sync"), "bar.sync 0"),
    **dict.fromkeys(("__threadfence", "threadfence", "fence_acq_rel"), "membar.gl"),
    **dict.fromkeys(("atomicAdd", "atomic"), "atom"),
    "ldg": "ld.global",
    "lds": "ld.shared",
    "ldl": "ld.local",
    "ldc": "ld.const",
    "stg": "st.global",
    "sts": "st.shared",
    "stl": "st.local",
    "__shared__": ".shared",
    "__constant__": ".const",
    "__device__": ".global",
    "extern": ".extern",
}
DIRECTIVES_ELSEWHERE: dict[str, str] = {
    **dict.fromkeys((".arch", ".cpu", ".sm"), ".target"),
    **dict.fromkeys((".globl", ".export", ".public"), ".visible"),
    **dict.fromkeys((".function", ".def", ".proc"), ".func"),
    **dict.fromkeys((".kernel", ".main"), ".entry"),
    **dict.fromkeys((".constant", ".rodata"), ".const"),
    ".launch_bounds": ".maxntid",
    ".data": ".global",
    ".bss": ".global",
    ".register": ".reg",
}
NAMES_OF_CUDA: dict[str, str] = {
    "threadIdx": "%tid",
    "blockIdx": "%ctaid",
    "blockDim": "%ntid",
    "gridDim": "%nctaid",
    "warpSize": "WARP_SZ",
    "laneId": "%laneid",
    "clusterIdx": "%clusterid",
}
