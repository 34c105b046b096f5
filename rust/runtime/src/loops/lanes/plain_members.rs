//! The members that all registers of lanes have by instructions of the same kind.

/// The members of [`Lanes`] for a register that differ between sets of instructions only in the names of these.
macro_rules! plain_members {
    (
        $register:ident, $element:ident; $set1:ident $load:ident $store:ident $add:ident $sub:ident $mul:ident
        $fmadd:ident $div:ident $sqrt:ident $and:ident $andnot:ident $or:ident
    ) => {
        type Element = $element;
        const EXPONENTIAL: &Exponential<$element> = $element::EXPONENTIAL;
        const LOGARITHM: &Logarithm<$element> = $element::LOGARITHM;
        const ANGLES: &Angles<$element> = $element::ANGLES;
        const GAMMA: &Gamma<$element> = $element::GAMMA;
        const DIGAMMA: &Gamma<$element> = $element::DIGAMMA;
        const IS_DOUBLE: bool = $element::IS_DOUBLE;

        #[inline(always)]
        fn number(x: f64) -> $register {
            Self::all(x as $element)
        }

        #[inline(always)]
        fn each<F: Function>(self) -> $register {
            let mut own = [0.0; size_of::<$register>() / size_of::<$element>()];
            // SAFETY: only functions for processors with these instructions have such registers, for this and the
            // others; `own` is as long.
            unsafe {
                $store(own.as_mut_ptr(), self);
                for x in &mut own {
                    *x = each::<F, $element>(*x);
                }
                $load(own.as_ptr())
            }
        }

        #[inline(always)]
        fn all(x: $element) -> $register {
            // SAFETY: as above.
            unsafe { $set1(x) }
        }

        #[inline(always)]
        fn add(self, other: $register) -> $register {
            // SAFETY: as above.
            unsafe { $add(self, other) }
        }

        #[inline(always)]
        fn sub(self, other: $register) -> $register {
            // SAFETY: as above.
            unsafe { $sub(self, other) }
        }

        #[inline(always)]
        fn mul(self, other: $register) -> $register {
            // SAFETY: as above.
            unsafe { $mul(self, other) }
        }

        #[inline(always)]
        fn fma(self, by: $register, more: $register) -> $register {
            // SAFETY: as above.
            unsafe { $fmadd(self, by, more) }
        }

        #[inline(always)]
        fn div(self, by: $register) -> $register {
            // SAFETY: as above.
            unsafe { $div(self, by) }
        }

        #[inline(always)]
        fn sqrt(self) -> $register {
            // SAFETY: as above.
            unsafe { $sqrt(self) }
        }

        #[inline(always)]
        fn abs(self) -> $register {
            // SAFETY: as above.
            unsafe { $andnot(Self::all(-0.0), self) }
        }

        #[inline(always)]
        fn with_sign_of(self, x: $register) -> $register {
            // SAFETY: as above.
            unsafe {
                let sign = Self::all(-0.0);
                $or($andnot(sign, self), $and(sign, x))
            }
        }
    };
}

pub(super) use plain_members;
