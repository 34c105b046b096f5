//! The digamma function below zero, from its values above.
//!
//! There it follows by one step of the recurrence, below -1 by the reflection formula, on the distance to the
//! nearest integer, whose tangent keeps its precision near the poles. Near a zero both parts cancel. With a zero
//! `r`, known to twice the digits, it is `x - r` times the sum over all `k >= 0` of
//! `1 / ((k + x) * (k + r))`, in which all large terms have one sign. Terms are added until both factors
//! are above 12; the rest is the difference of two asymptotic series, divided by the difference of their arguments.

use std::f64::consts::PI;

/// The zeros between -1 and 0, between -2 and -1, and so on.
const ROOTS: [f64; 31] = [
    -0.504_083_008_264_455_4,
    -1.573_498_473_162_390_4,
    -2.610_720_868_444_144_7,
    -3.635_293_366_436_901,
    -4.653_237_761_743_142,
    -5.667_162_441_556_885_5,
    -6.678_418_213_073_427,
    -7.687_788_325_031_626,
    -8.695_764_163_816_401,
    -9.702_672_540_001_863,
    -10.708_740_838_254_144,
    -11.714_133_061_228_955,
    -12.718_971_025_749_207,
    -13.723_347_457_363_827,
    -14.727_334_416_018_529,
    -15.730_988_906_332_882,
    -16.734_356_723_955_734,
    -17.737_475_159_977_59,
    -18.740_374_944_780_1,
    -19.743_081_672_590_22,
    -20.745_616_863_607_527,
    -21.747_998_768_201_13,
    -22.750_242_984_306_06,
    -23.752_362_937_385_183,
    -24.754_370_257_822_97,
    -25.756_275_080_771_037,
    -26.758_086_286_661_367,
    -27.759_811_695_826_706,
    -28.761_458_227_264_864,
    -29.763_032_029_127_462,
    -30.764_538_586_718_17,
];

/// The zeros less what [`ROOTS`] has of them.
const RESTS: [f64; 31] = [
    -8.154_282_062_438_13e-18,
    -1.574_185_691_077_347e-17,
    9.881_960_746_978_353e-17,
    5.454_396_163_173_039e-17,
    -2.549_268_620_146_819_3e-16,
    -3.215_305_107_494_833_5e-18,
    3.470_798_723_495_241e-16,
    -1.351_562_494_643_672e-16,
    -3.285_990_371_628_944_7e-16,
    -3.256_317_840_540_147_7e-16,
    -6.287_211_750_540_301e-16,
    8.598_250_154_343_834e-16,
    -4.752_312_432_106_917e-16,
    4.528_278_691_518_058e-16,
    -3.661_839_996_313_978_6e-17,
    1.055_195_637_336_584_2e-16,
    -1.203_950_163_180_014_4e-15,
    -5.125_776_230_727_235e-16,
    7.757_330_874_026_816e-16,
    6.505_672_516_695_227e-16,
    9.370_177_952_348_924e-16,
    -1.224_623_399_093_181_7e-15,
    -1.126_860_026_605_416_3e-15,
    8.157_017_519_280_734e-16,
    -1.316_906_917_865_066e-15,
    1.307_797_968_318_093_8e-15,
    1.133_433_713_172_583_5e-15,
    -1.120_148_225_799_811e-16,
    -1.540_571_108_688_748_8e-15,
    -4.657_204_559_411_395e-16,
    -1.055_352_443_416_712_4e-15,
];

/// The distance to a zero within which its sum is taken.
const NEAR: f64 = 0.1;

/// The function at any `x`, given that of numbers that are not below zero.
pub(super) fn psi(x: f64, of_positive: fn(f64) -> f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x >= 0.0 {
        return of_positive(x);
    }
    if x > -(ROOTS.len() as f64) {
        let at = (-x) as usize;
        let off = (x - ROOTS[at]) - RESTS[at];
        if off.abs() < NEAR {
            return off * slope(x, ROOTS[at], off);
        }
    }
    if x > -1.0 {
        return of_positive(x + 1.0) - 1.0 / x;
    }
    let off = x - x.round_ties_even();
    if off == 0.0 { f64::NAN } else { of_positive(1.0 - x) - PI / (PI * off).tan() }
}

/// The sum over all `k`.
fn slope(x: f64, root: f64, off: f64) -> f64 {
    let steps = 13 + (-x) as i32;
    let mut total = 0.0;
    for k in (0..steps).rev() {
        let k = f64::from(k);
        total += 1.0 / ((k + x) * (k + root));
    }
    let steps = f64::from(steps);
    let (first, second) = (x + steps, root + steps);
    let both = first + second;
    let inverse = 1.0 / (first * second);
    let square = inverse * inverse;
    let (ratio, center) = ((off / both) * (off / both), 4.0 / (both * both));
    let squares = first * first + second * second;
    let fourths = squares * squares - first * first * second * second;
    let rest = 1.0 / 12.0 - squares * square / 120.0 + fourths * square * square / 252.0;
    let tail = 2.0 / both * (1.0 + ratio * (1.0 / 3.0 + ratio * (1.0 / 5.0 + ratio / 7.0)))
        + inverse / 2.0
        + both * square * rest;
    let last = center
        * center
        * center
        * center
        * (8.0 / 240.0 - center * (10.0 / 132.0 - center * (12.0 * 691.0 / 32760.0)));
    total + (tail - last * 2.0 / both)
}
