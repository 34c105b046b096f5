//! The registers that functions of vectors are made for, and how partial results stand in them.

/// The bytes of a register of AVX-512, and of a block of a kernel.
pub(crate) const BYTES: u32 = 64;

/// The registers that functions of vectors are made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Registers {
    /// 16 registers of 256 bits: AVX2 and FMA.
    Of256,
    /// 32 registers of 512 bits, and masks of a bit for each element: AVX-512.
    Of512,
}

impl Registers {
    /// Those of this processor, the best first.
    pub(crate) fn known() -> impl Iterator<Item = Registers> {
        let most = frazil_runtime::vector_bits();
        let all = [(512, Registers::Of512), (256, Registers::Of256)];
        all.into_iter().filter_map(move |(bits, own)| (bits <= most).then_some(own))
    }

    /// The best of this processor.
    pub(crate) fn best() -> Option<Registers> {
        Registers::known().next()
    }

    /// The bytes of a register.
    pub(crate) fn bytes(self) -> u32 {
        match self {
            Registers::Of256 => BYTES / 2,
            Registers::Of512 => BYTES,
        }
    }

    /// The rows that lie side by side: a register has an element of eight bytes of each.
    pub(crate) fn side(self) -> u32 {
        self.bytes() / 8
    }

    /// Whether there are registers of a bit for each element.
    pub(crate) fn have_masks(self) -> bool {
        self == Registers::Of512
    }
}

/// Sets of partial results that blocks of elements fold into in turn.
pub(crate) const SETS: u32 = frazil_runtime::SETS as u32;
