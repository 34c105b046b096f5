//! The order in which a graph runs: every destroyer after the readers of the memory that it destroys.

use std::collections::VecDeque;

use super::{Destroyers, Inconsistent, Witness};
use crate::node::Node;
use crate::node::alias::{Aliases, Readers, StepNumber, VarNumber};

/// For every step, the readers of the memory that it destroys, which must run before it, ascending.
pub(crate) struct Waits {
    starts: Vec<u32>,
    steps: Vec<StepNumber>,
}

impl Waits {
    pub(crate) fn of(&self, step: StepNumber) -> &[StepNumber] {
        let (start, end) = (self.starts[step.index()], self.starts[step.index() + 1]);
        &self.steps[start as usize..end as usize]
    }
}

impl Destroyers<'_, '_, '_> {
    /// For every destroyer, the readers that it waits for.
    pub(crate) fn waits(&self, readers: &Readers) -> Waits {
        let mut destroyed = self.roots_of.clone();
        destroyed.sort_unstable();
        let mut waits =
            Waits { starts: Vec::with_capacity(self.aliases.step_count() + 1), steps: Vec::new() };
        let mut destroyed = destroyed.into_iter().peekable();
        for step in self.aliases.steps() {
            let start = waits.steps.len();
            waits.starts.push(start as u32);
            while let Some((_, root)) = destroyed.next_if(|&(destroyer, _)| destroyer == step) {
                waits.steps.extend(readers.of(root).iter().filter(|&&reader| reader != step));
            }
            waits.steps[start..].sort_unstable();
            // Several roots may have one reader.
            let mut kept = start;
            for at in start..waits.steps.len() {
                if at == start || waits.steps[at] != waits.steps[kept - 1] {
                    waits.steps[kept] = waits.steps[at];
                    kept += 1;
                }
            }
            waits.steps.truncate(kept);
        }
        waits.starts.push(waits.steps.len() as u32);
        waits
    }
}

/// The steps that must run right before a step: the makers of its operands, then the readers that it waits for.
fn before<'w>(
    aliases: &'w Aliases<'_, '_>,
    waits: &'w Waits,
    step: StepNumber,
) -> impl Iterator<Item = StepNumber> + 'w {
    let makers = aliases.operands(step).iter().filter_map(|&place| aliases.maker(place));
    makers.chain(waits.of(step).iter().copied())
}

/// The steps in an order that honours operands and waits: ascending, but the steps that a step waits for move in front
/// of it.
pub(crate) fn order(
    destroyers: &Destroyers<'_, '_, '_>,
    waits: &Waits,
) -> Result<Vec<StepNumber>, Inconsistent> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let aliases = destroyers.aliases;
    let mut marks = vec![Mark::New; aliases.step_count()];
    let mut order = Vec::with_capacity(aliases.step_count());
    let mut stack: Vec<(StepNumber, usize)> = Vec::new();
    for start in aliases.steps() {
        if marks[start.index()] == Mark::New {
            marks[start.index()] = Mark::Open;
            stack.push((start, 0));
        }
        while let Some((step, next)) = stack.last_mut() {
            let step = *step;
            let (operands, waits_for) = (aliases.operands(step), waits.of(step));
            let at = *next;
            *next += 1;
            let before = match operands.get(at) {
                Some(&operand) => match aliases.maker(operand) {
                    Some(maker) => maker,
                    None => continue,
                },
                None => match waits_for.get(at - operands.len()) {
                    Some(&reader) => reader,
                    None => {
                        marks[step.index()] = Mark::Done;
                        order.push(step);
                        stack.pop();
                        continue;
                    }
                },
            };
            match marks[before.index()] {
                Mark::Done => {}
                Mark::New => {
                    marks[before.index()] = Mark::Open;
                    stack.push((before, 0));
                }
                Mark::Open => {
                    let from = stack.iter().position(|&(step, _)| step == before);
                    let cycle: Vec<StepNumber> = stack
                        [from.expect("an open step is on the stack")..]
                        .iter()
                        .map(|&(step, _)| step)
                        .collect();
                    return Err(cycle_witness(destroyers, waits, &cycle).into());
                }
            }
        }
    }
    Ok(order)
}

/// The witness of a cycle, in which every step waits for the next and the last for the first.
fn cycle_witness(
    destroyers: &Destroyers<'_, '_, '_>,
    waits: &Waits,
    cycle: &[StepNumber],
) -> Witness {
    let aliases = destroyers.aliases;
    let next = |at: usize| cycle[(at + 1) % cycle.len()];
    // Operands alone make no cycle: some step waits for a reader.
    let (destroyer, reader) = (0..cycle.len())
        .map(|at| (cycle[at], next(at)))
        .filter(|(step, before)| waits.of(*step).binary_search(before).is_ok())
        .min()
        .expect("a cycle waits for a reader somewhere");
    let reader_roots = |root: VarNumber| {
        aliases
            .operands(reader)
            .iter()
            .any(|&place| aliases.sets().get(aliases.roots_of(place)).contains(&root))
    };
    let root = destroyers
        .roots_of
        .iter()
        .find(|&&(step, root)| step == destroyer && reader_roots(root))
        .map(|&(_, root)| root)
        .expect("the reader reads what the step destroys");
    let (_, input) = destroyers.by_root[root.index()].expect("a destroyed root");
    let between = shortest(aliases, waits, destroyer, reader);
    destroyers.reader_witness((destroyer, input), reader, root, between)
}

/// The nodes strictly between `from` and `to` on a shortest path on which each must run before the next.
fn shortest(
    aliases: &Aliases<'_, '_>,
    waits: &Waits,
    from: StepNumber,
    to: StepNumber,
) -> Vec<Node> {
    let mut after: Vec<Option<StepNumber>> = vec![None; aliases.step_count()];
    let mut pending = VecDeque::from([to]);
    while let Some(step) = pending.pop_front() {
        if step == from {
            break;
        }
        for earlier in before(aliases, waits, step) {
            if earlier != to && after[earlier.index()].is_none() {
                after[earlier.index()] = Some(step);
                pending.push_back(earlier);
            }
        }
    }
    let mut between = Vec::new();
    let mut at = after[from.index()];
    while let Some(step) = at.filter(|&step| step != to) {
        between.push(aliases.node(step).clone());
        at = after[step.index()];
    }
    between
}
