//! The scalar ops that kernels may hold, by their names.

use crate::dtype::{Dtype, Kind};

/// Ops with a name: how many operands each takes, and the kinds of these that it is defined for,
/// as letters: bool, integers, unsigned integers, floats.
macro_rules! ops {
    ($($variant:ident $name:literal $arity:literal $kinds:literal;)*) => {
        /// A scalar op.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(crate) enum Op {
            $($variant,)*
        }

        impl Op {
            /// The op of that name.
            pub(crate) fn named(name: &str) -> Option<Op> {
                match name {
                    $($name => Some(Op::$variant),)*
                    _ => None,
                }
            }

            /// The number of operands.
            pub(crate) fn arity(self) -> usize {
                match self {
                    $(Op::$variant => $arity,)*
                }
            }

            fn kinds(self) -> &'static str {
                match self {
                    $(Op::$variant => $kinds,)*
                }
            }

            /// The name of the op.
            pub(crate) fn name(self) -> &'static str {
                match self {
                    $(Op::$variant => $name,)*
                }
            }
        }
    };
}

ops! {
    Add "add" 2 "biuf";
    Sub "sub" 2 "iuf";
    Mul "mul" 2 "biuf";
    Truediv "truediv" 2 "f";
    Floordiv "floordiv" 2 "iuf";
    Mod "mod" 2 "iuf";
    Neg "neg" 1 "iuf";
    Reciprocal "reciprocal" 1 "f";
    Sqr "sqr" 1 "iuf";
    Pow "pow" 2 "iuf";
    Abs "abs" 1 "biuf";
    Sign "sign" 1 "iuf";
    Minimum "minimum" 2 "biuf";
    Maximum "maximum" 2 "biuf";
    Clip "clip" 3 "biuf";
    Floor "floor" 1 "biuf";
    Ceil "ceil" 1 "biuf";
    Trunc "trunc" 1 "biuf";
    Rint "rint" 1 "f";
    Eq "eq" 2 "biuf";
    Neq "neq" 2 "biuf";
    Lt "lt" 2 "biuf";
    Le "le" 2 "biuf";
    Gt "gt" 2 "biuf";
    Ge "ge" 2 "biuf";
    And "and_" 2 "biu";
    Or "or_" 2 "biu";
    Xor "xor" 2 "biu";
    Invert "invert" 1 "biu";
    Isnan "isnan" 1 "biuf";
    Isinf "isinf" 1 "biuf";
    Isfinite "isfinite" 1 "biuf";
    Where "where" 3 "biuf";
    Second "second" 2 "biuf";
    Identity "identity" 1 "biuf";
    DisconnectedGrad "disconnected_grad" 1 "biuf";
    ZeroGrad "zero_grad" 1 "biuf";
    Cast "cast" 1 "biuf";
    Fmin "fmin" 2 "biuf";
    Fmax "fmax" 2 "biuf";
    Fmod "fmod" 2 "iuf";
    Copysign "copysign" 2 "f";
    Nextafter "nextafter" 2 "f";
    Signbit "signbit" 1 "biuf";
    LeftShift "left_shift" 2 "iu";
    RightShift "right_shift" 2 "iu";
    Sqrt "sqrt" 1 "f";
    Exp "exp" 1 "f";
    Expm1 "expm1" 1 "f";
    Exp2 "exp2" 1 "f";
    Log "log" 1 "f";
    Log1p "log1p" 1 "f";
    Log2 "log2" 1 "f";
    Log10 "log10" 1 "f";
    Sin "sin" 1 "f";
    Cos "cos" 1 "f";
    Tan "tan" 1 "f";
    Arcsin "arcsin" 1 "f";
    Arccos "arccos" 1 "f";
    Arctan "arctan" 1 "f";
    Arctan2 "arctan2" 2 "f";
    Sinh "sinh" 1 "f";
    Cosh "cosh" 1 "f";
    Tanh "tanh" 1 "f";
    Arcsinh "arcsinh" 1 "f";
    Arccosh "arccosh" 1 "f";
    Arctanh "arctanh" 1 "f";
    Sigmoid "sigmoid" 1 "f";
    Softplus "softplus" 1 "f";
    LogSigmoid "log_sigmoid" 1 "f";
    Log1mexp "log1mexp" 1 "f";
    Logaddexp "logaddexp" 2 "f";
    Erf "erf" 1 "f";
    Erfc "erfc" 1 "f";
    Gammaln "gammaln" 1 "f";
    Psi "psi" 1 "f";
    TriGamma "tri_gamma" 1 "f";
    Cbrt "cbrt" 1 "f";
    Hypot "hypot" 2 "f";
    Zeta "zeta" 2 "f";
    Ndtr "ndtr" 1 "f";
    Polygamma "polygamma" 2 "f";
    Erfcx "erfcx" 1 "f";
    Beta "beta" 2 "f";
    Betainc "betainc" 3 "f";
    Betaincinv "betaincinv" 3 "f";
    Betaln "betaln" 2 "f";
    Binom "binom" 2 "f";
    Erfcinv "erfcinv" 1 "f";
    Erfinv "erfinv" 1 "f";
    Gamma "gamma" 1 "f";
    Gammainc "gammainc" 2 "f";
    Gammaincc "gammaincc" 2 "f";
    Gammainccinv "gammainccinv" 2 "f";
    Gammaincinv "gammaincinv" 2 "f";
    Hyp2f1 "hyp2f1" 4 "f";
    I0 "i0" 1 "f";
    I0e "i0e" 1 "f";
    I1 "i1" 1 "f";
    I1e "i1e" 1 "f";
    Iv "iv" 2 "f";
    Ive "ive" 2 "f";
    J0 "j0" 1 "f";
    J1 "j1" 1 "f";
    Jv "jv" 2 "f";
    K0 "k0" 1 "f";
    K0e "k0e" 1 "f";
    K1 "k1" 1 "f";
    K1e "k1e" 1 "f";
    Kv "kv" 2 "f";
    Kve "kve" 2 "f";
    LogNdtr "log_ndtr" 1 "f";
    Ndtri "ndtri" 1 "f";
    OwensT "owens_t" 2 "f";
    Poch "poch" 2 "f";
    Y0 "y0" 1 "f";
    Y1 "y1" 1 "f";
    Yv "yv" 2 "f";
}

impl Op {
    /// Whether the op computes a value of type `result` from operands of these types.
    pub(crate) fn takes(self, operands: &[Dtype], result: Dtype) -> bool {
        if operands.len() != self.arity() {
            return false;
        }
        let same = |own: &[Dtype]| own.iter().all(|&each| each == own[0]);
        let fits = match self {
            Op::Cast => return true,
            Op::Isnan | Op::Isinf | Op::Isfinite | Op::Signbit => result == Dtype::Bool,
            Op::Where => operands[0] == Dtype::Bool && operands[1..].iter().all(|&d| d == result),
            Op::Eq | Op::Neq | Op::Lt | Op::Le | Op::Gt | Op::Ge => {
                let mixed = [Dtype::Int64, Dtype::Uint64];
                let apart = operands.iter().all(|own| mixed.contains(own));
                result == Dtype::Bool && (same(operands) || apart)
            }
            _ => same(operands) && operands[0] == result,
        };
        let letter = match operands[operands.len() - 1].kind() {
            Kind::Half => return false,
            Kind::Bool => 'b',
            Kind::Signed => 'i',
            Kind::Unsigned => 'u',
            Kind::Float => 'f',
        };
        fits && self.kinds().contains(letter)
    }

    /// Whether the op is a call of a function of floats that is made ahead, for many elements at a
    /// time.
    pub(crate) fn is_function(self, dtype: Dtype) -> bool {
        let (own, first) = (self as usize, Op::Sqrt as usize);
        self == Op::Pow && dtype.is_float() || first < own && !self.is_of_scipy()
    }

    /// Whether the op is a call of a function of SciPy.
    pub(crate) fn is_of_scipy(self) -> bool {
        self as usize >= Op::Erfcx as usize
    }
}

/// The ops that elements are folded by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reduction(pub(crate) Op);

impl Reduction {
    /// The reduction of that name, of elements of that type.
    pub(crate) fn named(name: &str, dtype: Dtype) -> Option<Reduction> {
        let op = Op::named(name)?;
        let known = match op {
            _ if dtype.kind() == Kind::Half => false,
            Op::Add | Op::Mul | Op::Maximum | Op::Minimum => true,
            Op::And | Op::Or => !dtype.is_float(),
            _ => false,
        };
        known.then_some(Reduction(op))
    }

    /// Whether a fold keeps the first of two zeros, so that what is folded in comes first.
    pub(crate) fn keeps_first(self) -> bool {
        matches!(self.0, Op::Maximum | Op::Minimum)
    }

    /// Whether partial results have levels.
    pub(crate) fn has_levels(self, dtype: Dtype) -> bool {
        self.0 == Op::Add && dtype.is_float()
    }

    /// The bits of the identity.
    pub(crate) fn identity(self, dtype: Dtype) -> u64 {
        let bits = 8 * dtype.size();
        let all = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
        match (self.0, dtype.kind(), dtype) {
            (Op::Mul | Op::And | Op::Minimum, Kind::Bool, _) => 1,
            (_, Kind::Bool, _) => 0,
            (op, _, Dtype::Float32) => u64::from(
                match op {
                    Op::Add => -0.0_f32,
                    Op::Mul => 1.0,
                    Op::Maximum => f32::NEG_INFINITY,
                    _ => f32::INFINITY,
                }
                .to_bits(),
            ),
            (op, _, Dtype::Float64) => match op {
                Op::Add => -0.0_f64,
                Op::Mul => 1.0,
                Op::Maximum => f64::NEG_INFINITY,
                _ => f64::INFINITY,
            }
            .to_bits(),
            (Op::Mul, _, _) => 1,
            (Op::And, _, _) => all,
            (Op::Maximum, Kind::Signed, _) => 1 << (bits - 1),
            (Op::Minimum, Kind::Signed, _) => all >> 1,
            (Op::Minimum, _, _) => all,
            _ => 0,
        }
    }
}
