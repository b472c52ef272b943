"""Passes: text in, text out. `rewrite(module, "unroll-decls,reorder-decls{order=text}")` runs a pipeline."""

from ptxtool.passes.base import Pass, PassResult, Remark
from ptxtool.passes.pipeline import RewriteResult, parse_pipeline, rewrite, run
from ptxtool.passes.registry import PASSES, PassInfo, find_pass, pass_info, pass_infos

__all__ = [
    "PASSES",
    "Pass",
    "PassInfo",
    "PassResult",
    "Remark",
    "RewriteResult",
    "find_pass",
    "parse_pipeline",
    "pass_info",
    "pass_infos",
    "rewrite",
    "run",
]
