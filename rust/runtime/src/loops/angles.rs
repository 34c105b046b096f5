//! Sines, cosines and tangents, of single elements or of registers of them.
//!
//! `x` is a number of quarter turns and a rest. Sine and cosine of the rest are short polynomials.
//! From [`Angles::most`] on the rest would lose digits: such numbers go to the C library one by one.

use crate::loops::lanes::{Function, Lanes, polynomial};

/// The constants of the algorithm for one type.
pub(super) struct Angles<T> {
    /// Added to a number, it leaves that rounded to an integer, in the last bits.
    magic: T,
    /// The negative quarter of a turn in three parts.
    quarter: [T; 3],
    /// Up to this size the rest is right to the last bit.
    most: T,
    /// `(sin(r) / r - 1) / r**2` in `r**2`, and `(cos(r) - 1 + r**2 / 2) / r**4`, from the lowest power on.
    sine: &'static [f64],
    cosine: &'static [f64],
}

pub(super) const OF_F64: Angles<f64> = Angles {
    magic: 6_755_399_441_055_744.0,
    quarter: [
        -std::f64::consts::FRAC_PI_2,
        -6.123_233_995_736_766e-17,
        1.497_384_904_859_169_8e-33,
    ],
    most: 1e6,
    sine: &[
        -0.166_666_666_666_666_66,
        0.008_333_333_333_333_331,
        -0.000_198_412_698_412_650_17,
        2.755_731_921_930_192e-06,
        -2.505_210_621_952_189_5e-08,
        1.605_852_957_226_787_7e-10,
        -7.586_576_588_171_073e-13,
    ],
    cosine: &[
        0.041_666_666_666_666_664,
        -0.001_388_888_888_888_738_2,
        2.480_158_729_874_307e-05,
        -2.755_731_726_000_883_7e-07,
        2.087_614_382_799_313_3e-09,
        -1.138_245_677_806_130_6e-11,
    ],
};

pub(super) const OF_F32: Angles<f32> = Angles {
    magic: 12_582_912.0,
    quarter: [-std::f32::consts::FRAC_PI_2, 4.371_139e-8, 1.715_124_5e-15],
    most: 8192.0,
    sine: &[-0.166_666_67, 0.008_333_332, -0.000_198_400_87, 2.724_992_6e-6],
    cosine: &[0.041_666_664, -0.001_388_830_2, 2.454_794_2e-5],
};

/// The number of quarter turns in the last bits, and the sine and the cosine of the rest.
#[inline(always)]
fn quarters<L: Lanes>(x: L) -> (L, L, L) {
    let own = L::ANGLES;
    let magic = L::all(own.magic);
    let t = x.fma(L::number(std::f64::consts::FRAC_2_PI), magic);
    let n = t.sub(magic);
    // The first step is exact: both have their last bit where a number below 1 has room for it.
    let near = n.fma(L::all(own.quarter[1]), n.fma(L::all(own.quarter[0]), x));
    let r = n.fma(L::all(own.quarter[2]), near);
    let z = r.mul(r);
    let sine = z.mul(r).fma(polynomial(z, own.sine), r);
    let (half, one) = (L::number(0.5).mul(z), L::number(1.0));
    let most = one.sub(half);
    let rest = one.sub(most).sub(half);
    let cosine = most.add(z.mul(z).fma(polynomial(z, own.cosine), rest));
    (t, sine, cosine)
}

macro_rules! of_angles {
    ($($name:ident $of:ident $rare:path;)*) => {
        $(#[expect(non_camel_case_types, reason = "it is named as the function that it is")]
        pub(super) struct $name;

        impl Function for $name {
            #[inline(always)]
            fn of<L: Lanes>(x: L) -> L {
                $of(x)
            }

            #[inline(always)]
            fn is_common<L: Lanes>(x: L) -> bool {
                x.all_within(L::all(L::ANGLES.most))
            }

            fn rare(x: f64) -> f64 {
                $rare(x)
            }
        })*
    };
}

of_angles! {
    sin sine f64::sin;
    cos cosine f64::cos;
    tan tangent f64::tan;
}

#[inline(always)]
fn sine<L: Lanes>(x: L) -> L {
    let (t, sine, cosine) = quarters(x);
    let made = t.if_odd(cosine, sine).negated_by(t);
    // A zero keeps its sign.
    let zero = L::number(0.0);
    zero.below(x.abs(), made, x)
}

#[inline(always)]
fn cosine<L: Lanes>(x: L) -> L {
    let (t, sine, cosine) = quarters(x);
    t.if_odd(sine, cosine).negated_by(t.add(L::number(1.0)))
}

#[inline(always)]
fn tangent<L: Lanes>(x: L) -> L {
    let (t, sine, cosine) = quarters(x);
    let zero = L::number(0.0);
    let made = t.if_odd(zero.sub(cosine), sine).div(t.if_odd(sine, cosine));
    zero.below(x.abs(), made, x)
}
