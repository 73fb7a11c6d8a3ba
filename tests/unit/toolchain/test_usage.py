"""The resources of kernels, read from the words of ptxas."""

from __future__ import annotations

import pytest

from comprehensive.toolchain.usage import Usage, resource_usage, simple_name, usage_of

LOG = """\
ptxas info    : (C7511) Potential Performance Loss: wgmma.mma_async instructions are serialized
ptxas info    : 1 bytes gmem, 8 bytes cmem[4]
ptxas info    : Compiling entry function '_Z1tILi4EEvPf' for 'sm_75'
ptxas info    : Function properties for _Z6calleei
    96 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads
ptxas info    : Function properties for _Z1tILi4EEvPf
    8 bytes stack frame, 4 bytes spill stores, 20 bytes spill loads
ptxas info    : Used 16 registers, used 0 barriers, 360 bytes cmem[0]
ptxas info    : Compile time = 1.232 ms
ptxas info    : Compiling entry function '_Z1tILi8EEvPf' for 'sm_75'
ptxas info    : Function properties for _Z1tILi8EEvPf
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 255 registers, used 2 barriers, 8 bytes cumulative stack size
ptxas info    : Compiling entry function 'k' for 'sm_90'
ptxas info    : Function properties for k
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 1 barriers, 512 bytes smem, 364 bytes cmem[0]
"""


def test_every_kernel_of_a_log_has_its_usage():
    assert resource_usage(LOG) == {
        "_Z1tILi4EEvPf": Usage("_Z1tILi4EEvPf", "sm_75", 16, 0, 0, 8, 4, 20, 12, 16),
        "_Z1tILi8EEvPf": Usage("_Z1tILi8EEvPf", "sm_75", 255, 2, 0, 0, 0, 0),
        "k": Usage("k", "sm_90", 8, 1, 512, 0, 0, 0),
    }


def test_a_log_without_kernels_has_no_usage():
    assert resource_usage("ptxas info    : 0 bytes gmem\n") == {}


def test_a_kernel_is_found_by_symbol_or_by_its_name_in_the_source():
    usages = resource_usage(LOG)
    assert [u.registers_per_thread for u in usage_of("k", usages)] == [8]
    assert [u.registers_per_thread for u in usage_of("t", usages)] == [16, 255]
    assert [u.registers_per_thread for u in usage_of("_Z1tILi8EEvPf", usages)] == [255]
    assert usage_of("callee", usages) == ()


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("matmul_0", "matmul_0"),
        ("_Z6matmulPKfS0_Pfi", "matmul"),
        ("_Z1tILi4EEvPf", "t"),
        ("_ZL6staticPf", "static"),
        ("_ZN2ns6kernelILi4EEEvPf", "kernel"),
        ("_ZN29_GLOBAL__N__4121bdb2_4_t_cu_k4anonEPd", "anon"),
        ("_Z3k12Pf", "k12"),
        ("_Z99short", "_Z99short"),
        ("_Zeq", "_Zeq"),
    ],
)
def test_names_of_the_source_are_read_off_mangled_symbols(symbol, name):
    assert simple_name(symbol) == name


@pytest.mark.parametrize(
    ("symbol", "arguments"),
    [
        ("_Z4tileILi16ELb1EEvPf", (16, 1)),
        ("_Z4tileILin3EEvPf", (-3,)),
        ("_ZN2ns4tileILi8ELb0EEEvPf", (8, 0)),
        ("_Z4tileIfEvPf", ()),
        ("tile", ()),
    ],
)
def test_numbers_given_to_a_template_are_read_off_its_symbol(symbol, arguments):
    usage = Usage(symbol, "sm_90", 8, 0, 0, 0, 0, 0)
    assert usage.template_arguments == arguments
