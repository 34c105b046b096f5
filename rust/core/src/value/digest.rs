//! 128-bit content digests, stable across processes, machines and versions of Python.

use std::fmt;

use xxhash_rust::xxh3::xxh3_128;

/// The Merkle digest of a node, type, constant or op.
///
/// Digests key caches and tables; equality in memory is decided by the full key, never by a digest alone.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest {
    high: u64,
    low: u64,
}

impl Digest {
    /// The digest of `bytes`.
    pub fn of(bytes: &[u8]) -> Digest {
        let value = xxh3_128(bytes);
        Digest { high: (value >> 64) as u64, low: value as u64 }
    }

    /// The 64 bits that tables hash by.
    pub fn short(self) -> u64 {
        self.low
    }

    /// The digest with these bytes, as `to_bytes` gives them.
    pub fn from_bytes(bytes: [u8; 16]) -> Digest {
        let value = u128::from_le_bytes(bytes);
        Digest { high: (value >> 64) as u64, low: value as u64 }
    }

    /// Little-endian bytes, low half first.
    pub fn to_bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.low.to_le_bytes());
        bytes[8..].copy_from_slice(&self.high.to_le_bytes());
        bytes
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}{:016x}", self.high, self.low)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Collects the fields of a key in a canonical byte form.
///
/// Every variable-length field is preceded by its length, so two different keys never give one byte string.
pub(crate) struct DigestWriter {
    /// The first bytes of the key, usually all of them.
    start: [u8; START],
    length: usize,
    rest: Vec<u8>,
}

/// Room for the key of an application with three operands.
const START: usize = 128;

impl DigestWriter {
    /// Starts a key of the given kind; kinds keep, say, a type and a constant apart.
    pub(crate) fn new(kind: u8) -> DigestWriter {
        let mut start = [0; START];
        start[0] = kind;
        DigestWriter { start, length: 1, rest: Vec::new() }
    }

    #[inline]
    fn fixed<const N: usize>(&mut self, bytes: [u8; N]) {
        match self.start.get_mut(self.length..self.length + N) {
            Some(room) if self.rest.is_empty() => {
                room.copy_from_slice(&bytes);
                self.length += N;
            }
            _ => self.rest.extend_from_slice(&bytes),
        }
    }

    pub(crate) fn byte(&mut self, value: u8) {
        self.fixed([value]);
    }

    pub(crate) fn word(&mut self, value: u64) {
        self.fixed(value.to_le_bytes());
    }

    pub(crate) fn digest(&mut self, value: Digest) {
        self.fixed(value.to_bytes());
    }

    pub(crate) fn text(&mut self, value: &[u8]) {
        self.word(value.len() as u64);
        value.iter().for_each(|&byte| self.fixed([byte]));
    }

    pub(crate) fn finish(mut self) -> Digest {
        let start = &self.start[..self.length];
        if self.rest.is_empty() {
            return Digest::of(start);
        }
        self.rest.splice(..0, start.iter().copied());
        Digest::of(&self.rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_never_changes() {
        // A golden value: caches on disk and pickles of other processes rely on it.
        assert_eq!(Digest::of(b"frazil").to_string(), "8353f5bf35aa893e9339df3f2a282add");
    }

    #[test]
    fn lengths_keep_neighbouring_fields_apart() {
        let write = |fields: [&[u8]; 2]| {
            let mut writer = DigestWriter::new(0);
            writer.text(fields[0]);
            writer.text(fields[1]);
            writer.finish()
        };
        assert_ne!(write([b"ab", b"c"]), write([b"a", b"bc"]));
    }
}
