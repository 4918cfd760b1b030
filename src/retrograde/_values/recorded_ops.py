"""Custom ops in a recording: the rule of a value that ``rg.compile`` meets, asked on values, or
called over rows where it takes arrays of them. The ops themselves are in ``custom.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._shared.numerics import np
from ..errors import CustomOpError, GraphExitError, NotTwiceDifferentiable
from ..value import Value, belongs_to_caller, core

if TYPE_CHECKING:
    from .custom import CustomOp


class RecordedOp:
    """The rule of a custom op's value in a recording.

    Its first ``skip`` inputs are what its function made; ``part`` is set where the value is itself
    one of the derivatives that a rule over arrays gives.
    """

    retrograde_rule = True

    def __init__(self, op: CustomOp, skip: int, part: int | None = None) -> None:
        self.op, self.skip, self.part, self.name = op, skip, part, op.name

    @property
    def has_vjp(self) -> bool:
        """Whether contributions are to be asked for: a rule over arrays gives nothing else."""
        return self.op.has_vjp or self.op.vectorized

    def recompute(self, node: Value) -> None:
        """A recording cannot be stale."""

    def partials_on_values(
        self, node: Value, operands: Sequence[Any], wanted: Sequence[int]
    ) -> list[Any]:
        """The partials in terms of ops."""
        count = len(operands) - self.skip
        given = self.op.rule_on_values(operands[self.skip :], node, count)
        return [given[index - self.skip] for index in wanted]

    def vjp_on_values(self, node: Value, operands: Sequence[Any], upstream: Any) -> list[Any]:
        """The contributions in terms of ops, or as calls over rows."""
        if self.part is not None:
            raise NotTwiceDifferentiable.rule(self.op.name, node.site)
        inputs = list(operands[self.skip :])
        before = [upstream] if self.op.has_vjp else []
        try:
            if self.op.has_no_rule:
                raise TypeError("its rule is in numbers")
            found = self.op.rule_on_values([*before, *inputs], node, len(inputs))
        except (GraphExitError, TypeError, CustomOpError):
            if not self.op.vectorized:
                raise
            found = self._calls([*before, *inputs, node], len(inputs))
        if not self.op.has_vjp:
            found = [partial * upstream for partial in found]
        return [0.0] * self.skip + found

    def _calls(self, operands: Sequence[Any], count: int) -> list[Any]:
        values = tuple(
            v if isinstance(v, Value) else Value(float(v), requires_grad=False) for v in operands
        )
        numbers = self.op.rule_rows([np.array([core.peek(v)]) for v in values], count)
        return [
            Value(float(numbers[i][0]), values, (0.0,) * len(values), _op=RecordedOp(self.op, 0, i))
            for i in range(count)
        ]


belongs_to_caller(RecordedOp)
