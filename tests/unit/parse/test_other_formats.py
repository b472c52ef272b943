"""What is neither PTX nor PTXPlus is called by its name, with the command that makes PTX of it."""

import pytest

from ptxtool.base.diag import Diagnostic, PtxError
from ptxtool.parse import parse

CUDA_HEADER = b"\x7fELF\x02\x01\x01\x41\x08" + bytes(7) + b"\x02\0\xbe\0" + bytes(60)
HOST_HEADER = b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x01\0\x3e\0" + bytes(60)
FATBIN = b"\x50\xed\x55\xba\x01\0\x10\0" + bytes(40)
KERNEL = '// a copy\nextern "C" __global__ void k(int *p)\n{\n    p[threadIdx.x] = 1;\n}\n'
CUOBJDUMP = """
	code for sm_80
		Function : k
	.headerflags	@"EF_CUDA_TEXMODE_UNIFIED EF_CUDA_64BIT_ADDRESS EF_CUDA_SM80"
        /*0000*/                   MOV R1, c[0x0][0x28] ;                  /* 0x00000a0000017a02 */
        /*0010*/                   EXIT ;                                  /* 0x000000000000794d */
"""
NVDISASM = "        /*0040*/              @!P0 BRA `(.L_x_0) ;\n        /*0050*/                   EXIT ;\n"


def errors(data: str | bytes, name: str = "<string>") -> tuple[Diagnostic, ...]:
    with pytest.raises(PtxError) as caught:
        parse(data, name)
    return caught.value.diagnostics


@pytest.mark.parametrize(
    ("data", "what", "help"),
    [
        (CUDA_HEADER, "a cubin: machine code without PTX", "compile the CUDA source: nvcc -ptx k.cu -o k.ptx; or"),
        (HOST_HEADER, "a binary (ELF)", "cuobjdump -ptx <string>"),
        (FATBIN, "a fatbin", "cuobjdump -ptx <string>"),
        (KERNEL, "CUDA C++, not PTX", "compile it: nvcc -ptx k.cu -o k.ptx"),
        ('#include <cstdio>\nint main() { printf("x"); }\n', "CUDA C++, not PTX", "nvcc -ptx"),
        (CUOBJDUMP, "a listing of machine code (SASS), not PTX", "cuobjdump -ptx PROGRAM"),
        (NVDISASM, "a listing of machine code (SASS), not PTX", "compile the CUDA source"),
    ],
    ids=["cubin", "object", "fatbin", "cuda", "c++", "cuobjdump", "nvdisasm"],
)  # fmt: skip
def test_what_it_is(data: str | bytes, what: str, help: str) -> None:
    (found,) = errors(data)
    assert (found.code, found.message) == ("E103", f"'<string>' is {what}")
    assert help in found.help


def test_the_place_is_the_first_word_of_cuda() -> None:
    (found,) = errors(KERNEL)
    assert found.source is not None
    assert found.source.position(found.start) == (2, 1)


def test_the_command_names_the_file() -> None:
    (found,) = errors(KERNEL, "src/k.cu")
    assert found.help == "compile it: nvcc -ptx src/k.cu -o src/k.ptx"


@pytest.mark.parametrize(
    "text",
    [
        ".version 8.0\n.target sm_80\n// __global__ void k()\n.entry k() { mov.u32 a b; }\n",
        ".version 8.0\n.target sm_80\n.entry k() { /*0000*/ MOV R1, 5 }\n",
        ".entry k() { mov.u32 a b; }\n",
    ],
)
def test_broken_ptx_stays_ptx(text: str) -> None:
    assert {found.code for found in errors(text)} == {"E101"}
