//! Notes on nodes: names for people, and tokens for pickles.
//!
//! Equal nodes may have different notes, so notes are no part of a node's content. They are kept as long as the node
//! lives.
//!
//! A token is a number that no other node has in any process. Inputs and distinct nodes need one, since no content
//! tells them apart. Their token is written with them, and leads a reader back to the node.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::body::Body;
use super::handle::{Node, WeakNode};
use super::var::Var;
use crate::intern::fork::{Held, Locks};
use crate::intern::sync::{Lasting, Mutex, MutexGuard};
use crate::value::error::Error;

/// A number that is drawn at random from all of 128 bits.
pub type Token = u128;

#[derive(Default)]
struct Note {
    /// By the position of the output; none for an input whose name was removed.
    names: SmallVec<[(u32, Option<Arc<str>>); 1]>,
    /// The first is written to pickles. Two threads may give a node several.
    tokens: SmallVec<[Token; 1]>,
}

/// The notes of nodes of one container, by the nodes' addresses: entries go before their nodes do.
#[derive(Default)]
pub(crate) struct NoteTable(Mutex<FxHashMap<usize, Note>>);

impl NoteTable {
    /// The lock, for a thread that forks.
    pub(crate) fn hold(&self) -> MutexGuard<'_, impl Sized> {
        self.0.lock()
    }

    /// The name of an output: `None` without a note, `Some(None)` if the name was removed.
    pub(crate) fn name(&self, address: usize, index: u32) -> Option<Option<Arc<str>>> {
        let table = self.0.lock();
        let names = &table.get(&address)?.names;
        names.iter().find(|(of, _)| *of == index).map(|(_, name)| name.clone())
    }

    fn set_name(&self, address: usize, index: u32, name: Option<Arc<str>>) {
        let mut table = self.0.lock();
        let names = &mut table.entry(address).or_default().names;
        let old = match names.iter_mut().find(|(of, _)| *of == index) {
            Some((_, old)) => std::mem::replace(old, name),
            None => {
                names.push((index, name));
                None
            }
        };
        drop(table);
        drop(old);
    }

    fn token(&self, address: usize) -> Option<Token> {
        self.0.lock().get(&address)?.tokens.first().copied()
    }

    /// Adds a token; returns the one for pickles.
    fn add_token(&self, address: usize, token: Token) -> Token {
        let mut table = self.0.lock();
        let tokens = &mut table.entry(address).or_default().tokens;
        tokens.push(token);
        tokens[0]
    }

    /// Removes the notes on a dying node.
    pub(crate) fn forget(&self, address: usize) {
        let mut table = self.0.lock();
        let taken = table.remove(&address);
        if 8 * table.len() < table.capacity() {
            let room = 2 * table.len();
            table.shrink_to(room);
        }
        drop(table);
        let tokens = taken.iter().flat_map(|note| &note.tokens);
        tokens.for_each(|&token| HOLDERS.get().forget(token, address));
    }
}

/// The nodes by their tokens, of all containers.
#[derive(Default)]
struct Holders {
    table: Mutex<FxHashMap<Token, Holder>>,
    claims: AtomicU64,
}

struct Holder {
    address: usize,
    node: WeakNode,
    /// Tells it from all others there have been; addresses are used again.
    claim: u64,
}

static HOLDERS: Lasting<Holders> = Lasting::new(Holders::default);

impl Holders {
    fn find(&self, token: Token) -> Option<(WeakNode, u64)> {
        self.table.lock().get(&token).map(|holder| (holder.node.clone(), holder.claim))
    }

    /// The node that has `token`: the living one, or `node` from now on.
    fn claim(&self, token: Token, node: &Node) -> Node {
        let claim = self.claims.fetch_add(1, Ordering::Relaxed);
        let (address, weak) = (node.address(), node.downgrade());
        loop {
            let known = self.find(token);
            // Not under the lock: the node's last handle may go here.
            if let Some(living) = known.as_ref().and_then(|(weak, _)| weak.upgrade()) {
                return living;
            }
            let mut table = self.table.lock();
            if table.get(&token).map(|holder| holder.claim) == known.map(|(_, claim)| claim) {
                let old = table.insert(token, Holder { address, node: weak, claim });
                drop(table);
                drop(old);
                return node.clone();
            }
        }
    }

    /// Takes out the token of a dying node, unless another has it by now.
    fn forget(&self, token: Token, address: usize) {
        let mut table = self.table.lock();
        let held = table.get(&token).is_some_and(|holder| holder.address == address);
        let taken = if held { table.remove(&token) } else { None };
        if 8 * table.len() < table.capacity() {
            let room = 2 * table.len();
            table.shrink_to(room);
        }
        drop(table);
        drop(taken);
    }
}

/// The lock of all tokens, for a thread that forks.
pub struct Tokens;

impl Locks for Tokens {
    fn hold<'a>(&'a self, _: &mut Vec<Arc<dyn Locks>>) -> Held<'a> {
        Box::new(HOLDERS.get().table.lock())
    }
}

impl Node {
    /// The token of the node; `fresh`, which no other node may have, if it had none.
    pub fn token(&self, fresh: Token) -> Token {
        self.noted(|notes| notes.token(self.address())).unwrap_or_else(|| self.take_token(fresh))
    }

    /// The living node with this token.
    pub fn with_token(token: Token) -> Option<Node> {
        HOLDERS.get().find(token)?.0.upgrade()
    }

    /// Gives the node this token, which is new; returns the one for pickles.
    fn take_token(&self, token: Token) -> Token {
        // A thread that reads the note finds the node by it.
        HOLDERS.get().claim(token, self);
        self.note(|notes| notes.add_token(self.address(), token))
    }

    /// The node that has the token: the living one, which must have these types, or this one from now on.
    pub fn or_with_token(self, token: Token) -> Result<Node, Error> {
        let holder = HOLDERS.get().claim(token, &self);
        if holder == self {
            self.note(|notes| notes.add_token(self.address(), token));
        } else if holder.signature() != self.signature() {
            let reason = "another variable is known by this token".to_owned();
            return Err(Error::Codec { reason });
        }
        Ok(holder)
    }
}

impl Var {
    /// The name shown to people: the one that was given last, or that of an input at its birth.
    pub fn name(&self) -> Option<Arc<str>> {
        let given =
            self.node().noted(|notes| notes.name(self.node().address(), self.index() as u32));
        given.unwrap_or_else(|| match self.node().body() {
            Body::Input { name, .. } => name.clone(),
            _ => None,
        })
    }

    /// The variable of the node that has the token: the living one, of equal types, or this one from now on.
    pub fn at_token(self, token: Token) -> Result<Var, Error> {
        let index = self.index() as u32;
        Ok(Var::new(self.into_node().or_with_token(token)?, index))
    }

    /// Gives the variable another name, or none. Constants and nominals have none: equal ones are one variable.
    pub fn set_name(&self, name: Option<&str>) -> Result<(), Error> {
        if matches!(self.node().body(), Body::Constant(_) | Body::Nominal { .. }) {
            return Err(Error::Nameless { variable: self.describe() });
        }
        let (address, index) = (self.node().address(), self.index() as u32);
        self.node().note(|notes| notes.set_name(address, index, name.map(Into::into)));
        Ok(())
    }
}

#[cfg(all(test, not(feature = "shuttle")))]
mod tests {
    use super::*;
    use crate::node::container::Container;
    use crate::value::dtype::DType;
    use crate::value::ty::Ty;

    fn input(container: &Container) -> Var {
        container.input(&Ty::scalar(DType::Float64), Some("x"), None)
    }

    #[test]
    fn names_and_tokens_go_with_their_node() {
        let container = Container::new();
        let x = input(&container);
        assert_eq!(x.name().as_deref(), Some("x"));
        x.set_name(Some("y")).unwrap();
        assert_eq!(x.describe(), "y");
        x.set_name(None).unwrap();
        assert_eq!(x.name(), None);
        assert_eq!(x.node().token(7), 7);
        assert_eq!(x.node().token(8), 7);
        assert!(Node::with_token(7).is_some_and(|node| node == *x.node()));
        drop(x);
        assert!(Node::with_token(7).is_none());
        assert!(container.storage().notes().0.lock().is_empty());
        assert_eq!(input(&container).name().as_deref(), Some("x"));
    }

    #[test]
    fn the_first_node_keeps_a_token() {
        let container = Container::new();
        let (x, y) = (input(&container), input(&container));
        assert!(x.node().clone().or_with_token(9).unwrap() == *x.node());
        assert!(y.node().clone().or_with_token(9).unwrap() == *x.node());
        let other = container.input(&Ty::scalar(DType::Int8), None, None);
        assert!(other.node().clone().or_with_token(9).is_err());
    }

    #[test]
    fn threads_find_one_node_by_a_token() {
        let container = Container::new();
        for token in 100..200 {
            let barrier = std::sync::Barrier::new(4);
            let claim = || {
                let own = input(&container);
                barrier.wait();
                own.at_token(token).unwrap()
            };
            let found: Vec<Var> = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..4).map(|_| scope.spawn(claim)).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            assert!(found.iter().all(|var| *var == found[0]));
        }
        assert!(container.storage().notes().0.lock().is_empty());
    }

    #[test]
    fn a_constant_has_no_name() {
        let one = Container::new().nominal(0, &Ty::scalar(DType::Int8));
        assert!(one.set_name(Some("one")).is_err());
    }
}
