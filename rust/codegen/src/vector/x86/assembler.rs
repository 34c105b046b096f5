//! The bytes of the few instructions that functions of vectors consist of, for x86-64 with AVX-512 or AVX2.

use crate::vector::Registers;

/// A general register, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gpr(pub(super) u8);

pub(super) const RAX: Gpr = Gpr(0);
pub(super) const RCX: Gpr = Gpr(1);
pub(super) const RDX: Gpr = Gpr(2);
pub(super) const RBX: Gpr = Gpr(3);
pub(super) const RSP: Gpr = Gpr(4);
pub(super) const RSI: Gpr = Gpr(6);
pub(super) const RDI: Gpr = Gpr(7);

/// A register of elements, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Zmm(pub(super) u8);

/// A register of a bit for each element, by its number; of 256 bits, one of elements that have all bits or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mask(pub(super) u8);

/// All elements.
pub(super) const ALL: Mask = Mask(0);

/// The operation of masks that takes what both have.
pub(super) const AND: u8 = 0x41;
/// The operation of masks that takes what the second has and the first has not.
pub(super) const AND_NOT: u8 = 0x42;
/// The operation of masks that takes what one of them has.
pub(super) const OR: u8 = 0x45;
/// The operation of masks that takes what both have and what neither has.
pub(super) const SAME: u8 = 0x46;
/// The operation of masks that takes what one of them alone has.
pub(super) const XOR: u8 = 0x47;

/// A place in memory.
#[derive(Clone, Copy, Debug)]
pub(super) enum Memory {
    /// So many bytes behind the address in a register.
    At(Gpr, i32),
    /// So many bytes behind the address in a register and an index, which counts elements of that size.
    Indexed(Gpr, Gpr, u32, i32),
    /// A constant of the function, by its number.
    Constant(usize),
    /// A table of the function, by its number.
    Table(usize),
}

/// The last operand of an instruction.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operand {
    Register(Zmm),
    /// A vector in memory.
    Vector(Memory),
    /// One element in memory, for all elements.
    Broadcast(Memory),
}

/// The kind of an instruction: the map of its opcode, the prefix, whether elements have 64 bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    pub(super) map: u8,
    pub(super) prefix: u8,
    pub(super) wide: bool,
}

/// No prefix, 66, F3 and F2.
pub(super) const NONE: u8 = 0;
pub(super) const P66: u8 = 1;
pub(super) const PF3: u8 = 2;
pub(super) const PF2: u8 = 3;

/// The bits of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    Bits128 = 0,
    Bits256 = 1,
    Bits512 = 2,
}

/// The other parts of an instruction of vectors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts {
    pub(super) reg: u8,
    pub(super) second: Option<u8>,
    pub(super) mask: Mask,
    pub(super) zeroing: bool,
    pub(super) length: Length,
    /// The bytes that a short distance counts; 0 if there is none.
    pub(super) unit: i32,
    pub(super) immediate: Option<u8>,
}

/// A place that a jump goes to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Label(usize);

/// Where the size of a frame belongs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame(usize);

/// The condition of a jump after a comparison.
#[derive(Clone, Copy, Debug)]
pub(super) enum Condition {
    Zero = 4,
    NotBelow = 3,
    NotZero = 5,
    Less = 0xc,
    NotLess = 0xd,
    NotGreater = 0xe,
    Greater = 0xf,
}

/// Instructions as bytes.
pub(super) struct Assembler {
    pub(super) registers: Registers,
    code: Vec<u8>,
    labels: Vec<Option<usize>>,
    jumps: Vec<(usize, usize)>,
    constants: Vec<u64>,
    tables: Vec<[u64; 8]>,
    uses: Vec<Use>,
}

/// A place where the distance to a constant belongs, which is counted from `end` on.
struct Use {
    place: usize,
    end: usize,
    of: Memory,
}

impl Assembler {
    /// Instructions on such registers.
    pub(super) fn new(registers: Registers) -> Assembler {
        let (code, labels, jumps) = (Vec::new(), Vec::new(), Vec::new());
        let (constants, tables, uses) = (Vec::new(), Vec::new(), Vec::new());
        Assembler { registers, code, labels, jumps, constants, tables, uses }
    }

    /// The instructions, and the constants behind them.
    pub(super) fn finish(mut self) -> Vec<u8> {
        for (place, label) in &self.jumps {
            let target = self.labels[*label].expect("every label is bound");
            let distance = target as i32 - (*place as i32 + 4);
            self.code[*place..place + 4].copy_from_slice(&distance.to_le_bytes());
        }
        // Tables begin with a line of the cache, as the function does.
        let unit = if self.tables.is_empty() { 8 } else { 64 };
        self.code.resize(self.code.len().next_multiple_of(unit), 0xcc);
        let pool = self.code.len();
        for &Use { place, end, of } in &self.uses {
            let at = match of {
                Memory::Table(number) => 64 * number,
                Memory::Constant(number) => 64 * self.tables.len() + 8 * number,
                _ => unreachable!("only these have no register"),
            };
            let distance = (pool + at) as i32 - end as i32;
            self.code[place..place + 4].copy_from_slice(&distance.to_le_bytes());
        }
        for constant in self.tables.iter().flatten().chain(&self.constants) {
            self.code.extend_from_slice(&constant.to_le_bytes());
        }
        self.code
    }

    /// The number of a table of the bits of a register.
    pub(super) fn table(&mut self, bits: [u64; 8]) -> usize {
        self.tables.iter().position(|&own| own == bits).unwrap_or_else(|| {
            self.tables.push(bits);
            self.tables.len() - 1
        })
    }

    /// The number of a constant of 64 bits.
    pub(super) fn constant(&mut self, bits: u64) -> usize {
        self.constants.iter().position(|&own| own == bits).unwrap_or_else(|| {
            self.constants.push(bits);
            self.constants.len() - 1
        })
    }

    // ------------------------------------------------------------ jumps

    pub(super) fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    pub(super) fn bind(&mut self, label: Label) {
        self.labels[label.0] = Some(self.code.len());
    }

    pub(super) fn jump_if(&mut self, condition: Condition, to: Label) {
        self.code.extend_from_slice(&[0x0f, 0x80 | condition as u8]);
        self.jumps.push((self.code.len(), to.0));
        self.code.extend_from_slice(&[0; 4]);
    }

    /// Fills up to a line of instructions, so that a loop begins with one.
    pub(super) fn align(&mut self) {
        let mut left = self.code.len().next_multiple_of(32) - self.code.len();
        while left >= 9 {
            self.code.extend_from_slice(&[0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0]);
            left -= 9;
        }
        if left >= 4 {
            self.code.extend_from_slice(&[0x0f, 0x1f, 0x40, 0]);
            left -= 4;
        }
        self.code.resize(self.code.len() + left, 0x90);
    }

    // ------------------------------------------------------------ general registers

    pub(super) fn push(&mut self, own: Gpr) {
        self.short(0x50, own);
    }

    pub(super) fn pop(&mut self, own: Gpr) {
        self.short(0x58, own);
    }

    fn short(&mut self, opcode: u8, own: Gpr) {
        if own.0 >= 8 {
            self.code.push(0x41);
        }
        self.code.push(opcode | own.0 & 7);
    }

    /// `to = [from]`, 64 bits.
    pub(super) fn load(&mut self, to: Gpr, from: Memory) {
        self.general(0x8b, to, from);
    }

    /// `to = [from]`, 32 bits with a sign.
    pub(super) fn load_signed(&mut self, to: Gpr, from: Memory) {
        self.general(0x63, to, from);
    }

    /// `[to] = from`, 64 bits.
    pub(super) fn store(&mut self, to: Memory, from: Gpr) {
        self.general(0x89, from, to);
    }

    fn general(&mut self, opcode: u8, reg: Gpr, memory: Memory) {
        self.code.push(0x48 | (reg.0 >> 3) << 2 | memory.index_bit() << 1 | memory.base_bit());
        self.code.push(opcode);
        self.address(reg.0, memory, 0, 0);
    }

    /// `[to] = from`, 16 bits.
    pub(super) fn store_short(&mut self, to: Memory, from: Gpr) {
        let rex = 0x40 | (from.0 >> 3) << 2 | to.base_bit();
        self.code.extend_from_slice(&[0x66, rex, 0x89]);
        self.address(from.0, to, 0, 0);
    }

    /// `[to] = number`, 8 bits.
    pub(super) fn store_byte(&mut self, to: Memory, number: u8) {
        self.code.extend_from_slice(&[0x40 | to.base_bit(), 0xc6]);
        self.address(0, to, 0, 1);
        self.code.push(number);
    }

    /// `to += [from]`, 64 bits.
    pub(super) fn add_from(&mut self, to: Gpr, from: Memory) {
        self.general(0x03, to, from);
    }

    /// `to = from`, 64 bits.
    pub(super) fn copy(&mut self, to: Gpr, from: Gpr) {
        let both = 0xc0 | (from.0 & 7) << 3 | to.0 & 7;
        self.code.extend_from_slice(&[0x48 | (from.0 >> 3) << 2 | to.0 >> 3, 0x89, both]);
    }

    /// `own *= [by]`, 64 bits.
    pub(super) fn multiply_by(&mut self, own: Gpr, by: Memory) {
        let Memory::At(base, _) = by else { unreachable!("it is at a register") };
        self.code.extend_from_slice(&[0x48 | (own.0 >> 3) << 2 | base.0 >> 3, 0x0f, 0xaf]);
        self.address(own.0, by, 0, 0);
    }

    /// `[from] -= number`, 64 bits.
    pub(super) fn subtract_from(&mut self, from: Memory, number: i8) {
        let Memory::At(base, _) = from else { unreachable!("it is at a register") };
        self.code.extend_from_slice(&[0x48 | base.0 >> 3, 0x83]);
        self.address(5, from, 0, 0);
        self.code.push(number as u8);
    }

    /// Compares with a number in memory, 64 bits.
    pub(super) fn compare_with(&mut self, own: Gpr, with: Memory) {
        self.general(0x3b, own, with);
    }

    /// Makes room on the stack, of a size that [`Assembler::leave_frame`] tells.
    pub(super) fn enter_frame(&mut self) -> Frame {
        self.subtract(RSP, 0);
        Frame(self.code.len() - 4)
    }

    pub(super) fn leave_frame(&mut self, own: Frame, bytes: i32) {
        self.code[own.0..own.0 + 4].copy_from_slice(&bytes.to_le_bytes());
        self.add(RSP, bytes);
    }

    /// `own = 0`.
    pub(super) fn clear(&mut self, own: Gpr) {
        let both = 0xc0 | (own.0 & 7) << 3 | own.0 & 7;
        self.code.extend_from_slice(&[0x40 | (own.0 >> 3) << 2 | own.0 >> 3, 0x31, both]);
    }

    /// `to += by`, 64 bits.
    pub(super) fn add_register(&mut self, to: Gpr, by: Gpr) {
        let both = 0xc0 | (by.0 & 7) << 3 | to.0 & 7;
        self.code.extend_from_slice(&[0x48 | (by.0 >> 3) << 2 | to.0 >> 3, 0x01, both]);
    }

    /// `own op= number`, 64 bits: 0 adds, 5 subtracts, 7 compares.
    fn immediate(&mut self, op: u8, own: Gpr, number: i32) {
        self.code.extend_from_slice(&[0x48 | own.0 >> 3, 0x81, 0xc0 | op << 3 | own.0 & 7]);
        self.code.extend_from_slice(&number.to_le_bytes());
    }

    pub(super) fn add(&mut self, own: Gpr, number: i32) {
        self.immediate(0, own, number);
    }

    pub(super) fn and(&mut self, own: Gpr, number: i32) {
        self.immediate(4, own, number);
    }

    pub(super) fn subtract(&mut self, own: Gpr, number: i32) {
        self.immediate(5, own, number);
    }

    pub(super) fn compare(&mut self, own: Gpr, number: i32) {
        self.immediate(7, own, number);
    }

    /// The mask of the elements before element `rsi`, of so many of a register; `rax` is written over.
    pub(super) fn left(&mut self, to: Mask, elements: u32) {
        if !self.registers.have_masks() {
            return self.short_left(to, elements);
        }
        self.low_bits(elements);
        self.mask_of_rax(to);
    }

    /// `rax` has a bit for each of so many elements, but for those from element `rsi` on.
    fn low_bits(&mut self, elements: u32) {
        let bits = u64::MAX >> (64 - elements);
        self.code.extend_from_slice(&[0x48, 0xb8]);
        self.code.extend_from_slice(&bits.to_le_bytes());
        let whole = self.label();
        self.compare(RSI, elements as i32);
        self.jump_if(Condition::NotLess, whole);
        // bzhi rax, rax, rsi
        self.code.extend_from_slice(&[0xc4, 0xe2, 0xc8, 0xf5, 0xc0]);
        self.bind(whole);
    }

    /// Leaves the upper halves of registers clean, and returns.
    pub(super) fn clean(&mut self) {
        self.code.extend_from_slice(&[0xc5, 0xf8, 0x77]);
    }

    pub(super) fn ret(&mut self) {
        self.code.push(0xc3);
    }

    // ------------------------------------------------------------ masks

    /// `to = rax`, 64 bits.
    fn mask_of_rax(&mut self, to: Mask) {
        self.code.extend_from_slice(&[0xc4, 0xe1, 0xfb, 0x92, 0xc0 | to.0 << 3]);
    }

    /// `to = [at]`, 64 bits that are all set or none.
    pub(super) fn load_mask(&mut self, to: Mask, from: Memory) {
        if !self.registers.have_masks() {
            return self.load_short_uniform(to, from);
        }
        self.code.extend_from_slice(&[0xc4, 0xe1, 0xf8, 0x90]);
        self.address(to.0, from, 0, 0);
    }

    /// `to = [at]`, 16 bits, of which so many are one for each element of a register.
    pub(super) fn load_bits(&mut self, to: Mask, from: Memory, elements: u32) {
        if !self.registers.have_masks() {
            return self.load_short_bits(to, from, elements);
        }
        self.code.extend_from_slice(&[0xc5, 0xf8, 0x90]);
        self.address(to.0, from, 0, 0);
    }

    /// `[to] = from`, 16 bits; as there. `r9` may be written over.
    pub(super) fn store_bits(&mut self, to: Memory, from: Mask, elements: u32) {
        if !self.registers.have_masks() {
            return self.store_short_bits(to, from, elements);
        }
        self.code.extend_from_slice(&[0xc5, 0xf8, 0x91]);
        self.address(from.0, to, 0, 0);
    }

    /// Compares the first so many bits of a mask with none.
    pub(super) fn test_mask(&mut self, own: Mask, bits: u32) {
        if !self.registers.have_masks() {
            return self.short_test(own);
        }
        let kind = match bits {
            8 => P66,
            16 => NONE,
            32 => 0x80 | P66,
            _ => 0x80 | NONE,
        };
        let registers = 0xc0 | own.0 << 3 | own.0;
        self.code.extend_from_slice(&[0xc4, 0xe1, 0x78 | kind, 0x98, registers]);
    }

    /// An operation of two masks of 64 bits.
    pub(super) fn masks(&mut self, opcode: u8, to: Mask, first: Mask, second: Mask) {
        if !self.registers.have_masks() {
            return self.short_masks(opcode, to, first, second);
        }
        let vector = 0x80 | (!first.0 & 15) << 3 | 4;
        let registers = 0xc0 | to.0 << 3 | second.0;
        self.code.extend_from_slice(&[0xc4, 0xe1, vector, opcode, registers]);
    }

    /// `to = ~from`.
    pub(super) fn not_mask(&mut self, to: Mask, from: Mask) {
        if !self.registers.have_masks() {
            return self.short_not(to, from);
        }
        self.code.extend_from_slice(&[0xc4, 0xe1, 0xf8, 0x44, 0xc0 | to.0 << 3 | from.0]);
    }

    // ------------------------------------------------------------ vectors

    /// Asks for memory, which need not be there.
    pub(super) fn prefetch(&mut self, memory: Memory) {
        self.code.extend_from_slice(&[
            0x40 | memory.index_bit() << 1 | memory.base_bit(),
            0x0f,
            0x18,
        ]);
        self.address(1, memory, 0, 0);
    }

    /// An instruction of vectors.
    pub(super) fn vector(&mut self, kind: Kind, opcode: u8, parts: &Parts, last: Operand) {
        let (reg, second) = (parts.reg, parts.second.unwrap_or(0));
        let (rm_low, rm_high, is_broadcast) = match last {
            Operand::Register(Zmm(own)) => (own >> 3 & 1, own >> 4 & 1, false),
            Operand::Vector(memory) => (memory.base_bit(), memory.index_bit(), false),
            Operand::Broadcast(memory) => (memory.base_bit(), memory.index_bit(), true),
        };
        let not = |bit: u8| (bit & 1) ^ 1;
        let bits_of_rm = not(reg >> 3) << 7 | not(rm_high) << 6 | not(rm_low) << 5;
        let wide = u8::from(kind.wide) << 7 | (!second & 15) << 3 | kind.prefix;
        if self.registers.have_masks() {
            let of_mask = u8::from(parts.zeroing) << 7 | parts.mask.0;
            let of_length = (parts.length as u8) << 5 | u8::from(is_broadcast) << 4;
            self.code.extend([
                0x62,
                bits_of_rm | not(reg >> 4) << 4 | kind.map,
                wide | 4,
                of_mask | of_length | not(second >> 4) << 3,
            ]);
        } else {
            self.code.extend([0xc4, bits_of_rm | kind.map, wide | (parts.length as u8) << 2]);
        }
        self.code.push(opcode);
        let behind = usize::from(parts.immediate.is_some());
        match last {
            Operand::Register(Zmm(own)) => {
                self.code.push(0xc0 | (reg & 7) << 3 | own & 7);
            }
            Operand::Vector(memory) => {
                let unit = if self.registers.have_masks() { parts.unit } else { 1 };
                self.address(reg, memory, unit, behind);
            }
            Operand::Broadcast(memory) => {
                let unit = if kind.wide { 8 } else { 4 };
                self.address(reg, memory, unit, behind);
            }
        }
        self.code.extend(parts.immediate);
    }

    /// The bytes that say which register and where in memory; `behind` of them follow.
    fn address(&mut self, reg: u8, memory: Memory, unit: i32, behind: usize) {
        let reg = (reg & 7) << 3;
        let (base, index, distance) = match memory {
            Memory::Constant(_) | Memory::Table(_) => {
                self.code.push(reg | 5);
                let place = self.code.len();
                self.code.extend_from_slice(&[0; 4]);
                self.uses.push(Use { place, end: place + 4 + behind, of: memory });
                return;
            }
            Memory::At(base, distance) => (base, None, distance),
            Memory::Indexed(base, index, size, distance) => (base, Some((index, size)), distance),
        };
        let short = unit > 0 && distance % unit == 0 && i8::try_from(distance / unit).is_ok();
        let mode = match distance {
            0 if base.0 & 7 != 5 => 0,
            _ if short => 0x40,
            _ => 0x80,
        };
        match index {
            None if base.0 & 7 != 4 => self.code.push(mode | reg | base.0 & 7),
            None => self.code.extend_from_slice(&[mode | reg | 4, 0x24]),
            Some((index, size)) => {
                let scale = size.trailing_zeros() as u8;
                let both = scale << 6 | (index.0 & 7) << 3 | base.0 & 7;
                self.code.extend_from_slice(&[mode | reg | 4, both]);
            }
        }
        match mode {
            0 => {}
            0x40 => self.code.push((distance / unit) as i8 as u8),
            _ => self.code.extend_from_slice(&distance.to_le_bytes()),
        }
    }
}

impl Memory {
    /// The memory so many bytes later.
    pub(super) fn after(self, bytes: i32) -> Memory {
        match self {
            Memory::At(base, distance) => Memory::At(base, distance + bytes),
            Memory::Indexed(base, index, size, distance) => {
                Memory::Indexed(base, index, size, distance + bytes)
            }
            Memory::Constant(_) | Memory::Table(_) => self,
        }
    }

    fn base_bit(self) -> u8 {
        match self {
            Memory::At(base, _) | Memory::Indexed(base, ..) => base.0 >> 3 & 1,
            Memory::Constant(_) | Memory::Table(_) => 0,
        }
    }

    fn index_bit(self) -> u8 {
        match self {
            Memory::Indexed(_, index, ..) => index.0 >> 3 & 1,
            _ => 0,
        }
    }
}
