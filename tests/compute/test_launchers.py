"""A launcher that fixes the order of arguments decides which kernels can be said."""

from itertools import permutations

import pytest

from compute.kernel import Access, BufferParam, Param, ScalarParam
from compute.launchers import buffers_first

OUT, INP = BufferParam("out", Access.WRITE), BufferParam("inp", Access.READ)
N, K, OFF, Z = ScalarParam("n", "u32"), ScalarParam("k"), ScalarParam("off", "vec3f"), ScalarParam("z")


def test_buffers_first_refuses_the_six_argument_kernel_and_says_what_it_would_take() -> None:
    found = buffers_first((OUT, N, INP, K, OFF, Z))
    assert not found.can_say
    assert found.accepted == (OUT, INP, N, K, OFF, Z)
    assert [(each.param.name, each.declared, each.taken) for each in found.misplaced] == [("n", 1, 2), ("inp", 2, 1)]
    assert found.explain() == (
        "a launcher of buffers first cannot say (out, n, inp, k, off, z): it takes (out, inp, n, k, off, z) "
        "(the scalar n stands before the buffer inp; the buffer inp stands behind the scalar n); "
        "of the 720 orders of these parameters it can say 48. What can be said decides which kernels exist"
    )


def test_it_can_say_exactly_the_orders_with_all_buffers_in_front() -> None:
    params: tuple[Param, ...] = (OUT, N, INP, K, OFF, Z)
    said = [order for order in permutations(params) if buffers_first(order).can_say]
    assert len(said) == buffers_first(params).orders[0] == 48
    assert all({OUT, INP} == set(order[:2]) for order in said)


@pytest.mark.parametrize("params", [(), (OUT,), (N, K), (OUT, INP, N)])
def test_what_it_can_say_it_takes_as_it_is(params: tuple[Param, ...]) -> None:
    found = buffers_first(params)
    assert found.accepted == params
    assert found.can_say
    assert found.explain().startswith("a launcher of buffers first can say")


def test_every_misplaced_parameter_has_a_reason_that_names_another() -> None:
    params: tuple[Param, ...] = (N, OUT, K, INP)
    for each in buffers_first(params).misplaced:
        assert each.param.name in each.why
        assert sum(f"{kind} {param.name}" in each.why for param in params for kind in ("buffer", "scalar")) == 2
