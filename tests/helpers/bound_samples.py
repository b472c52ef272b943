"""Kernels whose launch bounds, `setmaxnreg` or pragma ptxas 13.0 remarks upon, and others; by what it says.

`remark` is a part of what ptxas prints, "" where it prints nothing of the kind. Some findings are ours alone: no launch
meets such bounds, of which ptxas says nothing (`is_ours`).
"""

from typing import NamedTuple


class Sample(NamedTuple):
    """A file, the architecture to compile it for, what `check` reports, and what ptxas prints."""

    text: str
    arch: str
    codes: tuple[str, ...]
    remark: str
    is_ours: bool = False


def kernel(
    bounds: str = "", body: str = "", before: str = "", arch: str = "sm_90a", version: str = "9.0"
) -> str:
    """A file with one kernel, its bounds on the fifth line, its body on the seventh."""
    head = f".version {version}\n.target {arch}\n.address_size 64\n{before}\n"
    return f"{head}.visible .entry k(.param .u64 p) {bounds}\n{{\n{body}\nret;\n}}\n"


_ADJUST = "setmaxnreg.dec.sync.aligned.u32 40;"
_UNKNOWN = "unable to determine register count at entry"
_PRAGMA = '.pragma "enable_smem_spilling";'
_LOADS = "\n".join(f"ld.volatile.global.f32 %f{i}, [%rd1+{4 * i}];" for i in range(99))
_SUMS = "\n".join(f"fma.rn.f32 %f{100 + i}, %f{i}, %f{(7 * i + 3) % 99}, %f{i};" for i in range(99))
_STORES = "\n".join(f"st.volatile.global.f32 [%rd1+{4 * i}], %f{100 + i};" for i in range(99))
_FULL = f".reg .b64 %rd<3>; .reg .f32 %f<200>; ld.param.u64 %rd1, [p];\nMIDDLE\n{_LOADS}\n{_SUMS}\n{_STORES}"
_BOUNDS = ".maxntid 256 .maxnreg 32"


def _spilling(middle: str = "", before: str = "", bounds: str = _BOUNDS, **others: str) -> str:
    """A kernel that spills."""
    return kernel(bounds, _FULL.replace("MIDDLE", f"{_PRAGMA}\n{middle}"), before, **others)


_F = ".func f() { ret; }"
_INDIRECT = ".reg .u64 %q; mov.u64 %q, f; proto: .callprototype () _ (); call %q, (), proto;"
_PRINT = ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);"
_CALL = (
    "{ .param .b64 a, b; .param .b32 r; st.param.b64 [a], %rd1; st.param.b64 [b], %rd1; "
    "call (r), vprintf, (a, b); }"
)
_DYNAMIC = ".extern .shared .align 4 .b8 dyn[];"
_STORE = "st.shared.u32 [dyn], 1;"

SAMPLES: tuple[Sample, ...] = (
    # the bounds that setmaxnreg needs
    *(
        Sample(kernel(bounds, _ADJUST), "sm_90a", ("W212",), _UNKNOWN)
        for bounds in ("", ".maxntid 128", ".reqntid 128", ".reqnctapercluster 2")
    ),
    *(
        Sample(kernel(bounds, _ADJUST), "sm_90a", (), "")
        for bounds in (".maxnreg 64", ".maxntid 128 .minnctapersm 1", ".reqntid 128 .minnctapersm 1")
    ),
    Sample(kernel("", "call g;", f".func g() {{ {_ADJUST} ret; }}"), "sm_90a", ("W212",), _UNKNOWN),
    Sample(kernel(".maxnreg 64", "call g;", f".func g() {{ {_ADJUST} ret; }}"), "sm_90a", (), ""),
    # bounds that are ignored
    Sample(kernel(".minnctapersm 4"), "sm_90a", ("W213",), "ignored when neither"),
    Sample(kernel(".maxntid 1024 .minnctapersm 3"), "sm_90a", ("W213",), "threads per SM"),
    Sample(kernel(".maxntid 32 .minnctapersm 33"), "sm_90a", ("W213",), "Value of minnctapersm"),
    Sample(kernel(".maxnreg 300"), "sm_90a", ("W213",), "Too many maxnreg"),
    Sample(kernel(".maxntid 1024 .minnctapersm 2"), "sm_90a", (), ""),
    *(
        Sample(kernel(".maxntid 1024 .minnctapersm 2", arch=arch), arch, ("W213",), "threads per SM")
        for arch in ("sm_75", "sm_86", "sm_120")
    ),
    *(
        Sample(kernel(".maxntid 512 .minnctapersm 4", arch=arch), arch, (), "")
        for arch in ("sm_80", "sm_100")
    ),
    # bounds that no launch meets
    Sample(kernel(".reqntid 2048"), "sm_90a", ("W213",), "", True),
    Sample(kernel(".reqntid 1, 1, 65"), "sm_90a", ("W213",), "", True),
    Sample(kernel(".reqnctapercluster 17"), "sm_90a", ("W213",), "", True),
    Sample(kernel(".maxntid 32 .maxntid 64"), "sm_90a", ("W213",), "", True),
    Sample(kernel(".maxntid 64 .maxntid 64 .maxntid 2048"), "sm_90a", ("W213",), "", True),
    Sample(kernel(".maxntid 2048"), "sm_90a", (), ""),
    # where spilling to shared memory works
    Sample(_spilling(), "sm_90a", (), ""),
    Sample(_spilling("call f;", _F), "sm_90a", (), ""),
    Sample(_spilling(before=_DYNAMIC), "sm_90a", (), ""),
    Sample(_spilling("st.shared.u32 [s], 1;", ".shared .b32 s[16];"), "sm_90a", (), ""),
    # where ptxas refuses it
    Sample(_spilling(_STORE, _DYNAMIC), "sm_90a", ("W214",), "not allowed for dynamic SMEM"),
    Sample(
        _spilling("call g;", f"{_DYNAMIC} .func g() {{ {_STORE} ret; }}"), "sm_90a", ("W214",), "dynamic SMEM"
    ),
    Sample(_spilling(_INDIRECT, _F), "sm_90a", ("W214",), "functions use abi"),
    Sample(_spilling("call g;", ".func g() { call g; ret; }"), "sm_90a", ("W214",), "functions use abi"),
    Sample(_spilling(_CALL, _PRINT), "sm_90a", ("W214",), "functions use abi"),
    Sample(kernel("", "call g;", f".func g() {{ {_PRAGMA} ret; }}"), "sm_90a", ("W214",), "device functions"),
    Sample(kernel(before=_PRAGMA), "sm_90a", ("W214",), "only within function scope"),
    Sample(kernel(_PRAGMA), "sm_90a", ("W214",), "only within function scope"),
    Sample(_spilling(version="8.6"), "sm_90a", ("W205",), "requires PTX ISA .version 8.7"),
)  # fmt: skip
FULL = _spilling("st.shared.u32 [s], 1;", ".shared .b8 s[49152];")
"""A kernel with all of its shared memory in use: ptxas finds no place to spill to, and says nothing."""
