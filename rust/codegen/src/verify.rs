//! The check that a kernel is valid: every number refers to something, and no value is used before it is
//! computed. All later steps rely on this.

use crate::dtype::Dtype;
use crate::error::CodegenError;
use crate::kernel::{Action, Body, Kernel, LoopKernel, Pass, ScanKernel, Statement};
use std::collections::HashSet;

type Checked = Result<(), String>;

/// More of anything than that is no kernel: it would be compiled for minutes.
const MOST: usize = 100_000;

pub(crate) fn verify(kernel: &Kernel) -> Result<(), CodegenError> {
    match kernel {
        Kernel::Loop(own) => verify_loop(own),
        Kernel::Scan(own) => verify_scan(own),
    }
    .map_err(CodegenError::Senseless)
}

fn need(holds: bool, fault: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(fault()) }
}

fn verify_loop(own: &LoopKernel) -> Checked {
    let (first, count) = (own.first(), own.first() + own.statements.len());
    need(count <= MOST && own.passes.len() <= MOST, || "it is too large".into())?;
    need(own.lanes.is_power_of_two() && own.lanes <= 64, || format!("{} lanes", own.lanes))?;
    // The code of rows begins at the first pointer.
    need(!(own.writes.is_empty() && own.puts.is_empty()), || "it has no results".into())?;
    own.bodies.iter().try_for_each(verify_body)?;
    for (k, statement) in own.statements.iter().enumerate() {
        for &a in &statement.args {
            need(a < first + k, || format!("value {} uses value {a}", first + k))?;
        }
        match statement.action {
            Action::Take(source) => {
                let known = own.sources.get(source);
                let fits = known.is_some_and(|source| {
                    source.indices == statement.args.len() && source.dtype == statement.dtype
                });
                need(fits, || format!("value {} takes what is not there", first + k))?;
            }
            Action::Fold(_) => {
                let start = own.dtype(statement.args[0]);
                need(start == statement.dtype, || "a fold starts with another type".into())?;
            }
            _ => {}
        }
    }
    for write in &own.writes {
        need(write.value < count, || format!("value {} is written", write.value))?;
    }
    for put in &own.puts {
        let all = put.args.iter().chain([&put.value]).all(|&a| a < count);
        need(all, || "a put of a value that is not there".into())?;
    }
    for &k in &own.buffers {
        need((first..count).contains(&k), || format!("value {k} has a buffer"))?;
    }
    verify_passes(own)
}

/// Walks through the passes as the code does.
fn verify_passes(own: &LoopKernel) -> Checked {
    let first = own.first();
    let mut uniform: HashSet<usize> = (0..first).collect();
    uniform.retain(|&k| k >= own.reads.len() || !own.reads[k].inner);
    let mut kept: HashSet<usize> = HashSet::new();
    let mut written: HashSet<usize> = HashSet::new();
    for (at, pass) in own.passes.iter().enumerate() {
        verify_numbers(own, pass).map_err(|fault| format!("pass {at}: {fault}"))?;
        for &k in &pass.uniform {
            let own = own.at(k);
            let moves = matches!(own.action, Action::Cumulate(_) | Action::Fold(_));
            let known = own.args.iter().all(|a| uniform.contains(a));
            need(known && !moves, || format!("value {k} is not the same along the row"))?;
            uniform.insert(k);
        }
        let mut known = uniform.clone();
        known.extend(&pass.reads);
        for k in &pass.loads {
            need(kept.contains(k), || format!("value {k} is loaded and was not stored"))?;
            known.insert(*k);
        }
        for &k in &pass.varying {
            let statement = own.at(k);
            let fold = matches!(statement.action, Action::Fold(_));
            let there = statement.args.iter().all(|a| known.contains(a));
            need(there && !fold, || format!("pass {at} cannot compute value {k}"))?;
            known.insert(k);
        }
        for &k in &pass.stores {
            need(known.contains(&k), || format!("value {k} is stored and not known"))?;
            kept.insert(k);
        }
        for &k in &pass.writes {
            let value = own.writes[k].value;
            need(known.contains(&value), || format!("value {value} is written too early"))?;
            need(written.insert(k), || format!("write {k} is in two passes"))?;
        }
        for &k in &pass.puts {
            let put = &own.puts[k];
            let there = put.args.iter().chain([&put.value]).all(|a| known.contains(a));
            need(there, || format!("put {k} comes too early"))?;
        }
        for &k in &pass.folds {
            let statement = own.at(k);
            let fold = matches!(statement.action, Action::Fold(_));
            let there = fold && statement.args.iter().all(|a| known.contains(a));
            let start = fold && uniform.contains(&statement.args[0]);
            need(there && start, || format!("pass {at} cannot fold value {k}"))?;
            uniform.insert(k);
        }
    }
    for write in own.writes.iter().filter(|write| !write.walks()) {
        need(uniform.contains(&write.value), || {
            "a write that does not move needs a value that does not".into()
        })?;
    }
    let all = own.writes.iter().enumerate().all(|(k, own)| !own.walks() || written.contains(&k));
    need(all, || "a write is in no pass".into())
}

/// Whether the numbers of a pass refer to something.
fn verify_numbers(own: &LoopKernel, pass: &Pass) -> Checked {
    let (first, count) = (own.first(), own.first() + own.statements.len());
    let values = [&pass.uniform, &pass.varying, &pass.folds];
    let computed = values.iter().all(|all| all.iter().all(|k| (first..count).contains(k)));
    let buffers = [&pass.loads, &pass.stores];
    let kept = buffers.iter().all(|all| all.iter().all(|k| own.buffers.contains(k)));
    let reads = pass.reads.iter().all(|&k| own.reads.get(k).is_some_and(|read| read.inner));
    let writes = pass.writes.iter().all(|&k| own.writes.get(k).is_some_and(|own| own.walks()));
    let puts = pass.puts.iter().all(|&k| k < own.puts.len());
    need(computed && kept && reads && writes && puts, || "a number refers to nothing".into())
}

/// Statements whose values follow the `known` ones; `same` tells which are the same in all steps.
fn verify_steps(statements: &[Statement], same: &[bool], mut known: Vec<bool>) -> Checked {
    for (statement, &constant) in statements.iter().zip(same) {
        let there = statement.args.iter().all(|&a| a < known.len() && (!constant || known[a]));
        need(there, || format!("value {} is not there yet", known.len()))?;
        known.push(constant);
    }
    Ok(())
}

fn verify_body(body: &Body) -> Checked {
    let count = body.dtypes().len();
    need(count <= MOST, || "a loop is too large".into())?;
    need(body.nexts.len() == body.states.len(), || "a state has no next value".into())?;
    let mut known = vec![false; body.states.len()];
    known.resize(body.states.len() + body.constants.len() + body.literals.len(), true);
    verify_steps(&body.statements, &body.constant, known)?;
    let dtypes = body.dtypes();
    for (&next, &dtype) in body.nexts.iter().zip(&body.states) {
        let fits = next < count && dtypes[next] == dtype;
        need(fits, || format!("value {next} is no next value of a state"))?;
    }
    let fits = body.condition.is_none_or(|k| k < count && dtypes[k] == Dtype::Bool);
    need(fits, || "a condition is no value".into())
}

fn verify_scan(own: &ScanKernel) -> Checked {
    own.bodies.iter().try_for_each(verify_body)?;
    let count = own.first() + own.statements.len();
    need(count <= MOST, || "it is too large".into())?;
    for &(read, element) in &own.loads {
        let there = own.reads.get(read).is_some_and(|read| element < read.size);
        need(there, || format!("element {element} of read {read} is not there"))?;
    }
    let mut known: Vec<bool> = own.loads.iter().map(|&(read, _)| !own.reads[read].walks).collect();
    known.resize(own.first_state(), true);
    known.resize(own.first(), false);
    verify_steps(&own.statements, &own.constant, known.clone())?;
    known.extend(&own.constant);
    let dtypes = own.dtypes();
    for (k, state) in own.states.iter().enumerate() {
        let starts = state.start < count && known[state.start];
        let follows = state.next < count && dtypes[state.next] == state.dtype;
        let fits = starts && follows && dtypes[state.start] == state.dtype;
        need(fits, || format!("state {k} has no value"))?;
    }
    for write in &own.writes {
        for &value in &write.values {
            let fits = value < count && dtypes[value] == write.dtype;
            let last = write.walks
                || value < count
                    && (known[value] || (own.first_state()..own.first()).contains(&value));
            need(fits && last, || format!("value {value} cannot be written"))?;
        }
    }
    let fits = own.condition.is_none_or(|k| k < count && dtypes[k] == Dtype::Bool);
    need(fits, || "a condition is no value".into())
}
