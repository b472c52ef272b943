"""What ptxas says of launch bounds, `setmaxnreg` and spilling to shared memory, asked again."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from bound_samples import FULL, SAMPLES, Sample
from ptxas import needs_ptxas, ptxas

_ABOUT = re.compile(r"C7508|ignored|adjusting|enable_smem_spilling|Smem spilling", re.IGNORECASE)


def printed(text: str, arch: str, folder: Path) -> str:
    path = folder / "k.ptx"
    path.write_text(text)
    command = [ptxas() or "", "-v", f"-arch={arch}", str(path), "-o", os.devnull]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return re.sub(r".*Compile time.*", "", done.stdout + done.stderr)


@needs_ptxas
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: " ".join(s.text.split())[50:120])
def test_ptxas_on_the_samples(sample: Sample, tmp_path: Path) -> None:
    output = printed(sample.text, sample.arch, tmp_path)
    if sample.remark:
        assert sample.remark in output
    else:
        assert not _ABOUT.search(output), output
        assert bool(sample.codes) is sample.is_ours


@needs_ptxas
def test_full_shared_memory_takes_no_spills(tmp_path: Path) -> None:
    without = FULL.replace("enable_smem_spilling", "nounroll")
    assert printed(FULL, "sm_90a", tmp_path) == printed(without, "sm_90a", tmp_path)
