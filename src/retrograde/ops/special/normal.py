"""The scaled complementary error function, and the inverse of the error function.

erfcx is a polynomial in x / (x + 4) up to 4 and in 1 / (x + 4) from there on, over x + 4; its slope
has polynomials of its own, for 2x erfcx(x) - 2/√π would cancel. The inverse is x times a function
of w = -ln(1 - x²), in four pieces. ``tools/minimax_special.py`` made the polynomials.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..expr import Expr, Var, function, where
from ..routine import Steps, polynomial, routine

exp, log, sqrt = map(function, ("exp", "log", "sqrt"))

SQRT_2 = math.sqrt(2.0)

TAIL_NEAR = (
    1.8727183681541615, -4.785577828049049, 9.559392582162058, -15.174009935544312,
    19.097579916026433, -18.61824747050013, 13.191791193506635, -5.550651042490978,
    -0.16105181312013625, 1.8218229857811234, -0.7466777143185572, -0.3813201302208983,
    0.37554772184502394, 0.07626392723571739, -0.1578086090138944, -0.023959768690646182,
    0.058508723886322375, 0.017181883749847963,
)  # fmt: skip
TAIL_FAR = (
    0.7496675362383002, 3.889045195290259, 19.041738270342357, 87.50075386923187, 374.5972583623846,
    1479.182979878352, 5310.494244239181, 16949.26195267777, 46217.2829600494, 98639.35116778898,
    120170.62379773009, -160078.86706069257, -1363473.6846086585, -3468981.065388892,
    -612184.0302384703, 26734976.99225054, 69891252.08395235, -41173936.025103316,
)  # fmt: skip
FALL_NEAR = (
    5.461901739190949, -23.91024452934107, 62.81970010145991, -117.98877949031228,
    165.30632759485968, -171.07254518455392, 121.48345627812188, -43.438898189870905,
    -13.746768020800767, 23.81834406886201, -5.067695999126156, -7.956543437579035,
    4.141416420136121, 2.7354862132254016, -2.131775799106215, -1.164422982254858,
    0.9727088177920948, 0.5401837952171403, -0.3667030084444053,
)  # fmt: skip
FALL_FAR = (
    0.9927328609439414, 10.158307674373274, 73.53160616150656, 443.6523300678422,
    2335.2309730332477, 10866.53321995375, 44588.76179024456, 158702.73834357405,
    471440.21225752885, 1061499.2126832763, 1211800.4046714173, -2943139.4397978405,
    -20534199.06702509, -49206080.19381703, 13513206.805896048, 511904752.8916952,
    1462302291.379036, -1546082438.854987, -17764016609.631763,
)  # fmt: skip
NEAR = (
    1.6536545626831027, 0.24015818242558834, -0.006033670871427191, -0.0007407025341546016,
    0.0001867342080211316, -1.388252339409359e-05, -1.3654691781283023e-06, 4.2347881700814134e-07,
    -2.9070389199799928e-08, -4.112660572710345e-09, 1.0512222201557254e-09, -5.414297365431998e-11,
    -1.2978391141409978e-11, 2.6305104277733045e-12, -8.081770524714984e-14,
    -4.0017073210539774e-14, 6.537026775434705e-15, -3.974784762543838e-17, -1.238149762974575e-16,
    1.5536101867210847e-17, 7.189724658091624e-19, -3.48400869656548e-19, 1.56805695962258e-20,
    3.213016550553282e-21, -2.862308604233905e-22,
)  # fmt: skip

ROOT_1 = (
    3.0838856104922208, 6.534183290012074, 6.761104429899401, 5.957849933219287, 8.571799660432571,
    -0.5385692969257183, 15.79234168842993, 44.885655328254096, -175.40593926523422,
    37.13522987471468, 1430.9868884735947, -2013.0941408311119, -8045.435515480994,
    19248.944141082095, 37811.10347160475, -118689.54167228148, -163246.2938819879,
    510548.36611900793, 638059.110355221, -1249269.2083950238, -1288345.5548329114,
)  # fmt: skip

ROOT_2 = (
    6.11228428058907, 12.617023798358808, 12.53925537222941, 12.413878942338947, 12.62699867032663,
    12.361607001079152, 12.641083155450684, 12.373303857857923, 12.606339917364787,
    12.420585327834461, 12.565698052259563, 12.392045126573734, 13.833415778722289,
    -2.2878465545964692, 73.09744631206799, -107.23985341437292, 1591.0131042217822,
    -10688.641427399176, 6982.529989658748, 100390.91121626645, -118653.67229170044,
    -301734.4333484232,
)  # fmt: skip

ROOT_3 = (
    15.917016980290148, 32.1037208660678, 31.95829600897591, 32.02127401858273, 31.999197817501564,
    31.988734881754205, 32.02315909887678, 31.968788018018248, 32.0389168055567, 31.95579051242142,
    32.04883096772688, 31.947956621404558, 32.06115017991446, 31.943908206842437,
    31.912708661957062, 31.945160761992952, 34.09424416349652, 32.05276762101042, 13.87522224424541,
    30.09032181790917, 123.6971487451221, 45.332800914798774, -162.8388954821027,
)  # fmt: skip


def _scaled(let: Steps, a: Expr, near: Sequence[float], far: Sequence[float]) -> tuple[Var, Var]:
    """1 / (a + 4), and a fitted function of a: from a / (a + 4) below 4, from 1 / (a + 4) above."""
    q = let(1 / (a + 4))
    inner = let(where(a < 4, a, 4))
    below = let(polynomial(let(inner / (inner + 4) - 0.25), near))
    return q, let(where(a < 4, below, polynomial(let(q - 0.0625), far)))


@routine(latex=r"\operatorname{erfcx}")
def scaled_erfc(let: Steps, x: Expr) -> Expr:
    """e^(x²) erfc(x)."""
    q, fitted = _scaled(let, let(where(x < 0, -x, x)), TAIL_NEAR, TAIL_FAR)
    left = let(where(x < 0, x, 0))
    return where(x < 0, 2 * exp(left * left) - fitted * q, fitted * q)


@routine(latex=r"\operatorname{erfcx}'")
def scaled_erfc_slope(let: Steps, x: Expr) -> Expr:
    """The slope of erfcx, 2x erfcx(x) - 2/√π, without its cancellation."""
    q, fitted = _scaled(let, let(where(x < 0, -x, x)), FALL_NEAR, FALL_FAR)
    left = let(where(x < 0, x, 0))
    return 4 * (left * exp(left * left)) - fitted * q * q


@routine(latex=r"\kappa")
def inverse_erf_ratio(let: Steps, w: Expr) -> Expr:
    """erfinv(x) / x, where w = -ln(1 - x²); for w up to 784."""
    s = let(sqrt(w))
    near = let(polynomial(let(w - 3.125), NEAR))
    first = let(polynomial(let((s - 3.25) / (s + 3.25)), ROOT_1))
    second = let(polynomial(let((s - 6.25) / (s + 6.25)), ROOT_2))
    third = let(polynomial(let((s - 16.0) / (s + 16.0)), ROOT_3))
    return where(w < 6.25, near, where(s < 4.25, first, where(s < 9, second, third)))


@routine(latex=r"\operatorname{erf}^{-1}")
def inverse_erf(let: Steps, x: Expr) -> Expr:
    """Where erf is x."""
    w = let(-log((1 - x) * (1 + x)))
    inside = let(x * inverse_erf_ratio(w))
    return where((x <= -1) | (x >= 1), x / sqrt((1 - x) * (1 + x)), inside)


@routine(latex=r"\Phi^{-1}")
def normal_quantile(let: Steps, x: Expr) -> Expr:
    """Where the distribution function of the normal distribution is x."""
    product = let(4 * x * (1 - x) + 0)  # -0 becomes 0
    w = let(-log(product))
    side = let(2 * x - 1)
    inside = let(SQRT_2 * side * inverse_erf_ratio(w))
    return where((x <= 0) | (x >= 1), side / sqrt(product), inside)
