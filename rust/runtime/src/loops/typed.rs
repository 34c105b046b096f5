//! Functions that are computed in the type of their elements, by registers of AVX-512 or AVX2
//! where the processor has them; others are in `elements.rs`.

#[cfg(target_arch = "x86_64")]
use crate::loops::lanes::two::Two;
use crate::loops::lanes::{Float, Function, Lanes, each, whole};
use crate::loops::recipe::{Operation, operations_of};
use crate::loops::{
    angles, arcs, digamma, error_function, exponential, gamma, hyperbolic, logarithm, roots,
};
use crate::processor::{Level, by_level};

macro_rules! functions {
    (partial: { $($partial:ident $source:ident;)* } whole: { $($name:ident $module:ident;)* }) => {
        $(#[expect(non_camel_case_types, reason = "it is named as the function that it is")]
        struct $name;

        impl Function for $name {
            #[inline(always)]
            fn of<L: Lanes>(x: L) -> L {
                $module::$name(x)
            }
        })*

        /// The address of the function of that name and form; `None` if there is none.
        pub(super) fn find(name: &str, form: &str, level: Option<Level>) -> Option<usize> {
            match name {
                $(stringify!($partial) => address::<$source::$partial>(form, level),)*
                $(stringify!($name) => address::<$name>(form, level),)*
                _ => None,
            }
        }

        /// The function of that name as operations on registers, of elements of 64 bits or 32; `None` if there is none, or if
        /// it has a branch.
        pub fn recipe(name: &str, wide: bool) -> Option<Vec<Operation>> {
            match (name, wide) {
                $((stringify!($name), true) => operations_of::<$name, f64>(),
                (stringify!($name), false) => operations_of::<$name, f32>(),)*
                _ => None,
            }
        }
    };
}

functions! {
    partial: {
        sin angles;
        cos angles;
        tan angles;
        gammaln gamma;
        psi digamma;
    }
    whole: {
        exp exponential;
        exp2 exponential;
        expm1 exponential;
        sigmoid exponential;
        log logarithm;
        log2 logarithm;
        log10 logarithm;
        log1p logarithm;
        log1mexp logarithm;
        softplus logarithm;
        log_sigmoid logarithm;
        sinh hyperbolic;
        cosh hyperbolic;
        tanh hyperbolic;
        arcsinh hyperbolic;
        arccosh hyperbolic;
        arctanh hyperbolic;
        arcsin arcs;
        arccos arcs;
        arctan arcs;
        erf error_function;
        erfc error_function;
        ndtr error_function;
        cbrt roots;
    }
}

fn address<F: Function>(form: &str, level: Option<Level>) -> Option<usize> {
    by_level!(
        level,
        plain: plain::address::<F>(form),
        avx2: avx2::address::<F>(form),
        avx512: avx512::address::<F>(form).or_else(|| blocks::address::<F>(form)),
    )
}

/// The bytes from an element to the memory that is asked for when it is read. Kernels come with a chunk of a page at a
/// time, and the processor itself looks no further than the end of one.
#[cfg(target_arch = "x86_64")]
const AHEAD: usize = 4096;

/// The elements that are computed together.
#[cfg(not(target_arch = "x86_64"))]
const TOGETHER: usize = 64;

/// # Safety
/// There are `count` elements at each pointer; `to` lies where `x` does, or apart from it.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
unsafe fn one_by_one<F: Function, T: Float>(to: *mut T, x: *const T, count: i64) {
    for start in (0..count as usize).step_by(TOGETHER) {
        let end = (count as usize).min(start + TOGETHER);
        let mut given = [T::number(0.0); TOGETHER];
        for at in start..end {
            // SAFETY: by the caller's promise, there are `count` elements at `x`, and `at` is less.
            given[at - start] = unsafe { x.add(at).read_unaligned() };
        }
        // The loop over common numbers has no branch, so that it goes by registers.
        let mut common = true;
        for at in start..end {
            common &= F::is_common(given[at - start]);
            // SAFETY: as above.
            unsafe { to.add(at).write_unaligned(F::of(given[at - start])) };
        }
        if !common {
            for at in start..end {
                // SAFETY: as above.
                unsafe { to.add(at).write_unaligned(each::<F, T>(given[at - start])) };
            }
        }
    }
}

/// A product and sum with one rounding is a call here, without AVX2: registers would have nothing to do.
///
/// # Safety
/// There are `count` elements at each pointer; `to` lies where `x` does, or apart from it.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn one_by_one<F: Function, T: Float>(to: *mut T, x: *const T, count: i64) {
    for at in 0..count as usize {
        // SAFETY: by the caller's promise, there are `count` elements at each pointer. Any processor has the instructions
        // of the plain level.
        unsafe { to.add(at).write_unaligned(alone_plain::<F, T>(x.add(at).read_unaligned())) }
    }
}

#[cfg(target_arch = "x86_64")]
macro_rules! by_registers {
    ($name:ident, $element:ty, $mask:ty, $load:ident, $store:ident) => {
        /// # Safety
        /// As for [`one_by_one`], and the processor has AVX-512.
        #[inline(always)]
        unsafe fn $name<F: Function>(to: *mut $element, x: *const $element, count: i64) {
            use std::arch::x86_64::*;
            const LANES: usize = <$mask>::BITS as usize;
            for at in (0..count as usize).step_by(LANES) {
                let left = count as usize - at;
                let mask = if left < LANES { (1 << left) - 1 } else { <$mask>::MAX };
                // SAFETY: by the caller's promise; the mask leaves out the elements behind the end.
                unsafe {
                    _mm_prefetch::<_MM_HINT_T0>(x.add(at).cast::<i8>().wrapping_add(AHEAD));
                    let made = whole::<F, _>($load(mask, x.add(at)));
                    $store(to.add(at), mask, made);
                }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
by_registers!(by_registers_f4, f32, u16, _mm512_maskz_loadu_ps, _mm512_mask_storeu_ps);
#[cfg(target_arch = "x86_64")]
by_registers!(by_registers_f8, f64, u8, _mm512_maskz_loadu_pd, _mm512_mask_storeu_pd);

#[cfg(target_arch = "x86_64")]
macro_rules! by_short_registers {
    ($name:ident, $element:ty, $int:ty, $lanes:literal, $load:ident, $store:ident, $some:ident, $write:ident) => {
        /// # Safety
        /// As for [`one_by_one`], and the processor has AVX2 and FMA.
        #[inline(always)]
        unsafe fn $name<F: Function>(to: *mut $element, x: *const $element, count: i64) {
            use std::arch::x86_64::*;
            const MASKS: [$int; 2 * $lanes] = {
                let mut all = [0; 2 * $lanes];
                let mut at = 0;
                while at < $lanes {
                    all[at] = -1;
                    at += 1;
                }
                all
            };
            let mut at = 0;
            // SAFETY: by the caller's promise; the mask leaves out the elements behind the end, and as many numbers of
            // `MASKS` as it has follow its first.
            unsafe {
                while at + 2 * $lanes <= count as usize {
                    _mm_prefetch::<_MM_HINT_T0>(x.add(at).cast::<i8>().wrapping_add(AHEAD));
                    let given = Two($load(x.add(at)), $load(x.add(at + $lanes)));
                    let Two(first, second) = whole::<F, _>(given);
                    $store(to.add(at), first);
                    $store(to.add(at + $lanes), second);
                    at += 2 * $lanes;
                }
                // One loop for a whole register and for a part of one: each holds the function's code.
                while at < count as usize {
                    let left = count as usize - at;
                    let is_whole = left >= $lanes;
                    let (given, mask) = if is_whole {
                        ($load(x.add(at)), _mm256_setzero_si256())
                    } else {
                        let mask = _mm256_loadu_si256(MASKS.as_ptr().add($lanes - left).cast());
                        ($some(x.add(at), mask), mask)
                    };
                    let made = whole::<F, _>(given);
                    if is_whole {
                        $store(to.add(at), made);
                    } else {
                        $write(to.add(at), mask, made);
                    }
                    at += $lanes;
                }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
by_short_registers!(
    by_short_registers_f4,
    f32,
    i32,
    8,
    _mm256_loadu_ps,
    _mm256_storeu_ps,
    _mm256_maskload_ps,
    _mm256_maskstore_ps
);
#[cfg(target_arch = "x86_64")]
by_short_registers!(
    by_short_registers_f8,
    f64,
    i64,
    4,
    _mm256_loadu_pd,
    _mm256_storeu_pd,
    _mm256_maskload_pd,
    _mm256_maskstore_pd
);

/// The function of one element, made of the instructions of a level.
///
/// # Safety
/// The processor has the instructions of the level; any has those of the plain one.
macro_rules! alone {
    ($name:ident $(, $features:literal)?) => {
        $(#[target_feature(enable = $features)])?
        #[inline(never)]
        unsafe extern "C" fn $name<F: Function, T: Float>(x: T) -> T {
            each::<F, T>(x)
        }
    };
}

alone!(alone_plain);
#[cfg(target_arch = "x86_64")]
alone!(alone_avx2, "avx2,fma");

/// The functions made of the instructions of a level.
macro_rules! in_level {
    ($level:ident, $one:ident, $many_f4:ident, $many_f8:ident $(, $features:literal)?) => {
        mod $level {
            use super::{Function, $one};

            $(#[target_feature(enable = $features)])?
            unsafe extern "C" fn many_f4<F: Function>(to: *mut f32, x: *const f32, count: i64) {
                // SAFETY: by the promise of the kernel that calls.
                unsafe { super::$many_f4::<F>(to, x, count) }
            }

            $(#[target_feature(enable = $features)])?
            unsafe extern "C" fn many_f8<F: Function>(to: *mut f64, x: *const f64, count: i64) {
                // SAFETY: by the promise of the kernel that calls.
                unsafe { super::$many_f8::<F>(to, x, count) }
            }

            pub(super) fn address<F: Function>(form: &str) -> Option<usize> {
                Some(match form {
                    "one_f4" => $one::<F, f32> as *const () as usize,
                    "one_f8" => $one::<F, f64> as *const () as usize,
                    "many_f4" => many_f4::<F> as *const () as usize,
                    "many_f8" => many_f8::<F> as *const () as usize,
                    _ => return None,
                })
            }
        }
    };
}

/// As [`one_by_one`].
///
/// # Safety
/// As there.
#[inline(always)]
unsafe fn each_f4<F: Function>(to: *mut f32, x: *const f32, count: i64) {
    // SAFETY: by the caller's promise, there are `count` elements at each pointer.
    unsafe { one_by_one::<F, f32>(to, x, count) }
}

/// As [`one_by_one`].
///
/// # Safety
/// As there.
#[inline(always)]
unsafe fn each_f8<F: Function>(to: *mut f64, x: *const f64, count: i64) {
    // SAFETY: by the caller's promise, there are `count` elements at each pointer.
    unsafe { one_by_one::<F, f64>(to, x, count) }
}

in_level!(plain, alone_plain, each_f4, each_f8);
#[cfg(target_arch = "x86_64")]
in_level!(avx2, alone_avx2, by_short_registers_f4, by_short_registers_f8, "avx2,fma");
// An element alone has no use for wide registers.
#[cfg(target_arch = "x86_64")]
in_level!(
    avx512,
    alone_avx2,
    by_registers_f4,
    by_registers_f8,
    "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl"
);

/// Functions of a register of elements, which C's kernels call.
#[cfg(target_arch = "x86_64")]
#[expect(improper_ctypes_definitions, reason = "a register is what C's vector types are passed in")]
mod blocks {
    use super::{Function, whole};
    use std::arch::x86_64::{__m512, __m512d};

    #[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
    unsafe extern "C" fn block_f4<F: Function>(x: __m512) -> __m512 {
        whole::<F, _>(x)
    }

    #[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
    unsafe extern "C" fn block_f8<F: Function>(x: __m512d) -> __m512d {
        whole::<F, _>(x)
    }

    pub(super) fn address<F: Function>(form: &str) -> Option<usize> {
        Some(match form {
            "block_f4" => block_f4::<F> as *const () as usize,
            "block_f8" => block_f8::<F> as *const () as usize,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    mod c {
        unsafe extern "C" {
            pub(super) safe fn asinh(x: f64) -> f64;
            pub(super) safe fn acosh(x: f64) -> f64;
            pub(super) safe fn atanh(x: f64) -> f64;
            pub(super) safe fn erf(x: f64) -> f64;
            pub(super) safe fn erfc(x: f64) -> f64;
        }
    }

    type Known = (&'static str, fn(f64) -> f64, f64);

    /// The reference of each function, and the units in the last place by which it may be off.
    const KNOWN: [Known; 23] = [
        ("exp", f64::exp, 1.0),
        ("exp2", f64::exp2, 1.0),
        ("expm1", f64::exp_m1, 2.0),
        ("log", f64::ln, 1.0),
        ("log2", f64::log2, 1.0),
        ("log10", f64::log10, 1.0),
        ("log1p", f64::ln_1p, 2.0),
        ("sin", f64::sin, 2.0),
        ("cos", f64::cos, 2.0),
        ("tan", f64::tan, 4.0),
        ("sinh", f64::sinh, 4.0),
        ("cosh", f64::cosh, 4.0),
        ("tanh", f64::tanh, 3.0),
        ("arcsinh", |x| c::asinh(x), 4.0),
        ("arccosh", |x| c::acosh(x), 4.0),
        ("arctanh", |x| c::atanh(x), 4.0),
        ("arcsin", f64::asin, 3.0),
        ("arccos", f64::acos, 3.0),
        ("arctan", f64::atan, 3.0),
        ("cbrt", f64::cbrt, 2.0),
        ("erf", |x| c::erf(x), 2.0),
        ("erfc", |x| c::erfc(x), 4.5),
        ("gammaln", crate::loops::real::gammaln, 5.0),
    ];

    /// Functions that are compared with none here, only among levels.
    const OTHERS: [&str; 6] = ["sigmoid", "softplus", "log_sigmoid", "log1mexp", "ndtr", "psi"];

    /// Bits of numbers of all sizes, and those around the edges.
    fn drawn(count: usize, bits: u32) -> impl Iterator<Item = u64> {
        let mut state = 1_u64;
        (0..count).map(move |_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state ^ state >> 29) >> (64 - bits)
        })
    }

    macro_rules! same_in_every_level {
        ($test:ident, $float:ty, $bits:ty, $form:literal, $one:literal, $sizes:expr) => {
            #[test]
            fn $test() {
                let edges: [$float; 24] = [
                    0.0,
                    -0.0,
                    1.0,
                    -1.0,
                    0.5,
                    -0.5,
                    0.75,
                    1.5,
                    709.8,
                    -745.2,
                    -708.5,
                    88.8,
                    -104.0,
                    -87.5,
                    1e-30,
                    -1e-30,
                    <$float>::MAX,
                    <$float>::MIN,
                    <$float>::MIN_POSITIVE,
                    <$float>::MIN_POSITIVE / 16.0,
                    <$float>::EPSILON,
                    <$float>::INFINITY,
                    <$float>::NEG_INFINITY,
                    <$float>::NAN,
                ];
                let mut values: Vec<$float> = edges.to_vec();
                values.extend(
                    drawn(4_000, <$bits>::BITS).map(|bits| <$float>::from_bits(bits as $bits)),
                );
                for size in $sizes {
                    values.extend(
                        drawn(4_000, 32).map(|k| (k as $float / 2147483648.0 - 1.0) * size),
                    );
                }
                for name in KNOWN.iter().map(|(name, ..)| *name).chain(OTHERS) {
                    let mut expected: Option<Vec<$float>> = None;
                    for level in [None].into_iter().chain(Level::known().map(Some)) {
                        let address = find(name, $form, level).unwrap();
                        let mut made = vec![0.0; values.len()];
                        // SAFETY: the address is that of such a function, and both are as long.
                        unsafe {
                            let function: unsafe extern "C" fn(*mut $float, *const $float, i64) =
                                std::mem::transmute(address);
                            function(made.as_mut_ptr(), values.as_ptr(), values.len() as i64);
                        }
                        let one = find(name, $one, level).unwrap();
                        type One = unsafe extern "C" fn($float) -> $float;
                        // SAFETY: as above.
                        let one = unsafe { std::mem::transmute::<usize, One>(one) };
                        let known = expected.get_or_insert_with(|| made.clone());
                        for ((x, own), known) in values.iter().zip(&made).zip(known) {
                            let same = |a: $float| {
                                a.to_bits() == known.to_bits() || a.is_nan() && known.is_nan()
                            };
                            // SAFETY: as above.
                            let alone = unsafe { one(*x) };
                            assert!(
                                same(*own) && same(alone),
                                "{name} {level:?} of {x:e}: {own:e} {alone:e} {known:e}"
                            );
                        }
                    }
                    let Some((_, right, most)) = KNOWN.iter().find(|known| known.0 == name) else {
                        continue;
                    };
                    for (x, own) in values.iter().zip(expected.unwrap()) {
                        let right = right(f64::from(*x)) as $float;
                        let off = (own - right).abs();
                        let near = off <= *most as $float * <$float>::EPSILON * right.abs()
                            || off <= 2.0 * <$float>::from_bits(1);
                        assert!(
                            own == right || near || own.is_nan() && right.is_nan(),
                            "{name} of {x:e}: {own:e} {right:e}"
                        );
                    }
                }
            }
        };
    }

    #[test]
    fn the_complement_of_the_error_function_is_nearest_near_zero() {
        for at in -4_000..=4_000 {
            let x = f64::from(at) * 1e-4;
            let off = |made: f64, right: f64| (made - right).abs() / f64::EPSILON;
            assert!(off(error_function::erfc(x), c::erfc(x)) <= 1.0, "erfc of {x}");
            let right = c::erfc(f64::from(x as f32));
            let off = (f64::from(error_function::erfc(x as f32)) - right).abs();
            assert!(off <= f64::from(f32::EPSILON), "erfc of {x} as float32");
        }
    }

    macro_rules! same_in_every_place {
        ($test:ident, $float:ty, $form:literal) => {
            /// Where registers end, and a mask begins: nothing behind the elements is written.
            #[test]
            fn $test() {
                type Many = unsafe extern "C" fn(*mut $float, *const $float, i64);
                let values: Vec<$float> = (0..100).map(|k| (k as $float - 30.5) * 0.37).collect();
                for name in KNOWN.iter().map(|(name, ..)| *name).chain(OTHERS) {
                    for level in [None].into_iter().chain(Level::known().map(Some)) {
                        let address = find(name, $form, level).unwrap();
                        // SAFETY: the address is that of such a function.
                        let many = unsafe { std::mem::transmute::<usize, Many>(address) };
                        let mut expected = [0.0; 100];
                        // SAFETY: both are as long.
                        unsafe { many(expected.as_mut_ptr(), values.as_ptr(), 100) };
                        for (start, count) in (0..40).map(|count| (count % 7, count)) {
                            let mut made = [7.5; 50];
                            let given = values[start..].as_ptr();
                            // SAFETY: there are so many elements in both.
                            unsafe { many(made.as_mut_ptr(), given, count as i64) };
                            for (a, b) in made.iter().zip(&expected[start..start + count]) {
                                let same = a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
                                assert!(same, "{name} {level:?} of {count}: {a:e} {b:e}");
                            }
                            assert!(made[count..].iter().all(|&own| own == 7.5));
                        }
                    }
                }
            }
        };
    }

    same_in_every_place!(places_of_f64, f64, "many_f8");
    same_in_every_place!(places_of_f32, f32, "many_f4");
    same_in_every_level!(of_f64, f64, u64, "many_f8", "one_f8", [1.0, 30.0, 800.0, 1e-3]);
    same_in_every_level!(of_f32, f32, u32, "many_f4", "one_f4", [1.0, 30.0, 110.0, 1e-3]);
}
