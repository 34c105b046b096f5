//! The order of elements, as integers.

use super::network::{Cell, Ranks};

/// An unsigned integer by which elements are compared.
pub(super) trait Rank: Copy + Ord + Default + From<u8> + Into<u64> {
    /// As many as are compared at once.
    type Vector: Cell;

    /// Their number.
    const LANES: usize;

    /// The same one in all lanes.
    fn vector(self) -> Self::Vector;

    /// That of a lane.
    fn lane(vector: &mut Self::Vector, lane: usize) -> &mut Self;
}

macro_rules! ranks {
    ($($rank:ty: $lanes:literal;)*) => { $(
        impl Rank for $rank {
            type Vector = Ranks<$rank, $lanes>;
            const LANES: usize = $lanes;

            fn vector(self) -> Self::Vector {
                Ranks([self; $lanes])
            }

            #[inline(always)]
            fn lane(vector: &mut Self::Vector, lane: usize) -> &mut $rank {
                &mut vector.0[lane]
            }
        }
    )* };
}

ranks! {
    u8: 64;
    u16: 32;
    u32: 16;
    u64: 8;
}

/// Elements with an order: numbers, NaN behind all others, the two zeros equal.
pub(super) trait Ranked: Copy {
    /// An integer of the same size.
    type Rank: Rank;

    /// Compares as the element does.
    fn rank(self) -> Self::Rank;

    /// An element of that rank.
    fn of_rank(rank: Self::Rank) -> Self;

    /// The rank with these lowest bits.
    fn rank_of(bits: u64) -> Self::Rank;

    /// Ranks that several elements have, in their order: of the zeros, and of NaN.
    const TIES: [Self::Rank; 2];

    /// Whether the element of its rank is another one: it is a NaN or the negative zero.
    fn is_lost(self) -> bool;
}

macro_rules! ranked {
    ($($kind:ty: $rank:ty, $flip:expr;)*) => {
        $(impl Ranked for $kind {
            type Rank = $rank;
            const TIES: [$rank; 2] = [$flip, <$rank>::MAX]; // each of one element only

            #[inline(always)]
            fn rank(self) -> $rank {
                self as $rank ^ $flip
            }

            #[inline(always)]
            fn of_rank(rank: $rank) -> $kind {
                (rank ^ $flip) as $kind
            }

            fn rank_of(bits: u64) -> $rank {
                bits as $rank
            }

            #[inline(always)]
            fn is_lost(self) -> bool {
                false
            }
        })*
    };
}

ranked! {
    u8: u8, 0;
    u16: u16, 0;
    u32: u32, 0;
    u64: u64, 0;
    i8: u8, 1 << 7;
    i16: u16, 1 << 15;
    i32: u32, 1 << 31;
    i64: u64, 1 << 63;
}

macro_rules! ranked_float {
    ($($float:ty: $rank:ty, $sign:expr;)*) => {
        $(impl Ranked for $float {
            type Rank = $rank;
            const TIES: [$rank; 2] = [$sign, <$rank>::MAX];

            #[inline(always)]
            fn rank(self) -> $rank {
                let bits = (self + 0.0).to_bits(); // the negative zero becomes the other one
                let rank = if bits & $sign == 0 { bits | $sign } else { !bits };
                if self.is_nan() { <$rank>::MAX } else { rank }
            }

            #[inline(always)]
            fn of_rank(rank: $rank) -> $float {
                <$float>::from_bits(if rank & $sign != 0 { rank ^ $sign } else { !rank })
            }

            fn rank_of(bits: u64) -> $rank {
                bits as $rank
            }

            #[inline(always)]
            fn is_lost(self) -> bool {
                self.is_nan() | (self.to_bits() == $sign)
            }
        })*
    };
}

ranked_float! {
    f32: u32, 1 << 31;
    f64: u64, 1 << 63;
}
