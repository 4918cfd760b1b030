"""The routines by name: one module a subject. A row, or another routine, may call them."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from . import gamma, normal, waves

ROUTINES: Final = MappingProxyType(
    {
        routine.name: routine
        for routine in (
            gamma.stirling_rest,
            gamma.log_gamma,
            gamma.psi,
            gamma.psi1,
            gamma.log_beta,
            gamma.psi_drop,
            normal.scaled_erfc,
            normal.scaled_erfc_slope,
            normal.inverse_erf_ratio,
            normal.inverse_erf,
            normal.normal_quantile,
            waves.sine_cardinal,
            waves.sine_cardinal_slope,
            waves.cube_root,
            waves.growth_gap,
            waves.gated_by_softplus,
            waves.gated_by_softplus_slope,
        )
    }
)
"""Each stands below those it calls."""
