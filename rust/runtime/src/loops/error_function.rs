//! The error function and the normal distribution, of single elements or of registers of them.

use crate::loops::exponential::exp;
use crate::loops::lanes::{Lanes, polynomial};

/// `erf(x) / x - 1` as a polynomial in `x**2`, where `|x| <= 1`.
const NEAR: [f64; 13] = [
    0.128_379_167_095_512_6,
    -0.376_126_389_031_837_5,
    0.112_837_916_709_548_79,
    -0.026_866_170_645_076_792,
    0.005_223_977_624_818_014_5,
    -0.000_854_832_698_083_379,
    0.000_120_553_311_116_427_1,
    -1.492_559_526_683_118_2e-05,
    1.646_100_048_412_136_8e-06,
    -1.635_031_270_105_469_5e-07,
    1.465_977_527_404_743_6e-08,
    -1.137_284_885_679_167_4e-09,
    5.957_176_147_748_911e-11,
];
const NEAR_OF_F32: [f64; 7] =
    [0.12837917, -0.37612626, 0.11283594, -0.026854211, 0.0051890872, -0.00080168643, 7.875875e-05];

/// `erfc(x) * e**x**2` as a polynomial in `(x - 2) / (x + 2)`, where `1 <= x <= 6`, of float32 4.
const FAR: [f64; 16] = [
    0.255_395_676_310_505_7,
    -0.427_185_847_413_958_5,
    0.241_658_194_242_487_63,
    -0.078_978_581_015_712_69,
    0.003_732_892_401_656_448_4,
    0.006_997_461_739_200_575,
    -0.000_847_143_122_941_533_3,
    -0.000_981_977_111_474_071_5,
    4.355_265_359_817_883e-05,
    0.000_174_364_772_572_567_38,
    2.756_035_275_667_831_3e-05,
    -2.764_072_782_191_285_2e-05,
    -1.416_633_906_911_710_8e-05,
    1.859_427_387_429_402e-06,
    4.146_302_183_268_488e-06,
    -2.228_129_576_372_35e-07,
];
const FAR_OF_F32: [f64; 8] = [
    0.25539568,
    -0.42718583,
    0.24165821,
    -0.07897852,
    0.0037321413,
    0.0069948556,
    -0.00083658996,
    -0.00094415963,
];

/// `erfc(x) * e**x**2 * (1 + 2 x)` as a polynomial in `(x - 4) / (x + 4)`, where `0 <= x <= 28`, of
/// float32 10.5.
const COMPLEMENT: [f64; 24] = [
    1.2329951186255526,
    -0.13962111684056253,
    0.015379652102619558,
    0.06809705425469323,
    -0.10103906603629459,
    0.09373283499833023,
    -0.0663303658124095,
    0.03716751553777026,
    -0.01619773405599449,
    0.005031969975753176,
    -0.0007577732973669146,
    -0.00019925668432389153,
    0.00015062169704678355,
    -2.439924428312988e-05,
    -1.1222046316669005e-05,
    5.709784760966506e-06,
    2.9377854943443786e-07,
    -8.254699744871162e-07,
    7.471952780500971e-08,
    1.1005996198640057e-07,
    -1.799947545903142e-08,
    -1.4091982822555755e-08,
    1.868487385473519e-09,
    1.263782858042137e-09,
];
const COMPLEMENT_OF_F32: [f64; 13] = [
    1.2329952,
    -0.13962112,
    0.015379626,
    0.068097115,
    -0.10103823,
    0.09373232,
    -0.066340156,
    0.037163448,
    -0.016150182,
    0.005088526,
    -0.00082650554,
    -0.00035525078,
    8.536912e-05,
];

/// The error function where `|x| <= 1`.
#[inline(always)]
fn erf_near_zero<L: Lanes>(x: L) -> L {
    let square = x.mul(x);
    let terms =
        if L::IS_DOUBLE { polynomial(square, &NEAR) } else { polynomial(square, &NEAR_OF_F32) };
    x.fma(terms, x)
}

#[inline(always)]
pub(super) fn erf<L: Lanes>(x: L) -> L {
    let (size, one, two) = (x.abs(), L::number(1.0), L::number(2.0));
    let near = erf_near_zero(x);
    // From there on nothing is left to 1; NaN stays.
    let most = L::number(if L::IS_DOUBLE { 6.0 } else { 4.0 });
    let inside = most.below(size, most, size);
    let part = inside.sub(two).div(inside.add(two));
    let terms = if L::IS_DOUBLE { polynomial(part, &FAR) } else { polynomial(part, &FAR_OF_F32) };
    let far = one.sub(exp(L::number(0.0).sub(inside.mul(inside))).mul(terms));
    size.below(one, near, far).with_sign_of(x)
}

/// The complement of a size falls off so fast that the square has twice the digits. Where the error function is less
/// than 1/2, one less that is nearer.
#[inline(always)]
pub(super) fn erfc<L: Lanes>(x: L) -> L {
    let (size, zero, one) = (x.abs(), L::number(0.0), L::number(1.0));
    let (two, four) = (L::number(2.0), L::number(4.0));
    // From there on it is 0; NaN stays.
    let most = L::number(if L::IS_DOUBLE { 28.0 } else { 10.5 });
    let inside = most.below(size, most, size);
    let square = inside.mul(inside);
    let lost = inside.fma(inside, zero.sub(square));
    let part = inside.sub(four).div(inside.add(four));
    let terms = if L::IS_DOUBLE {
        polynomial(part, &COMPLEMENT)
    } else {
        polynomial(part, &COMPLEMENT_OF_F32)
    };
    let share = terms.div(inside.fma(two, one));
    // Times the power of the lost part, which is next to 1.
    let share = share.sub(share.mul(lost));
    let made = exp(zero.sub(square)).mul(share);
    let far = x.below(zero, two.sub(made), made);
    size.below(L::number(0.475), one.sub(erf_near_zero(x)), far)
}

/// The product with the root of 1/2 in twice the digits, for the same reason. What is left of it may lie below zero by
/// less than the least number, which would be -0.0 without the last sum.
#[inline(always)]
pub(super) fn ndtr<L: Lanes>(x: L) -> L {
    let (most, zero) = (L::number(40.0), L::number(0.0));
    let t = most.below(x, most, x);
    let t = t.below(zero.sub(most), zero.sub(most), t);
    let root = L::number(std::f64::consts::FRAC_1_SQRT_2);
    let rest = if L::IS_DOUBLE { -4.833_646_656_726_457e-17 } else { 1.210_161_75e-8 };
    let z = t.mul(root);
    let off = t.fma(root, zero.sub(z)).add(t.mul(L::number(rest)));
    let slope = L::number(std::f64::consts::FRAC_2_SQRT_PI).mul(exp(zero.sub(z.mul(z))));
    L::number(0.5).mul(slope.fma(off, erfc(zero.sub(z)))).add(zero)
}
