//! What a thread that forks holds meanwhile.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use frazil_core::intern::fork::{drop_left, hold, release, release_in_child};
use frazil_core::{Container, DType, FunctionGraph, Ty};

/// A fork holds what is alive, so that of one test would keep what another lets go.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

#[test]
fn nobody_is_within_a_table_meanwhile() {
    let _alone = ONE_AT_A_TIME.lock().unwrap();
    let container = Container::new();
    let ty = Ty::tensor(DType::Float64, &[Some(43)]);
    let x = container.input(&ty, None, None);
    let graph = &FunctionGraph::new(&container, &[x.clone()], &[x.clone()]).unwrap();
    type Work<'a> = Box<dyn Fn() + Send + Sync + 'a>;
    let work: Vec<Work<'_>> = vec![
        Box::new(|| _ = container.nominal(0, &ty)),
        Box::new(|| _ = graph.set_outputs(&[x.clone()])),
        Box::new(|| drop(graph.clone())),
        Box::new(|| _ = container.frozen_graphs()),
        Box::new(|| _ = Ty::tensor(DType::Float64, &[Some(47)])),
        Box::new(|| drop(Container::new())),
    ];
    for work in &work {
        hold();
        let (done, wait) = channel();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                work();
                done.send(()).unwrap();
            });
            let early = wait.recv_timeout(Duration::from_millis(20));
            release();
            assert_eq!(early, Err(RecvTimeoutError::Timeout));
            wait.recv().unwrap();
        });
    }
}

#[test]
fn an_owner_may_end_while_its_locks_are_held() {
    let _alone = ONE_AT_A_TIME.lock().unwrap();
    let payload = Arc::new(1);
    let kept = Arc::downgrade(&payload);
    let container = Container::new();
    let x = container.input(&Ty::scalar(DType::Float64), None, Some(payload));
    let graph = FunctionGraph::new(&container, &[x.clone()], &[x]).unwrap();
    hold();
    let ending = std::thread::spawn(move || drop((graph, container)));
    assert!(kept.upgrade().is_some());
    release();
    ending.join().unwrap();
    assert!(kept.upgrade().is_none());
}

#[test]
fn what_ends_with_a_fork_stays_in_the_child_until_it_is_told() {
    let _alone = ONE_AT_A_TIME.lock().unwrap();
    let payload = Arc::new(1);
    let kept = Arc::downgrade(&payload);
    let container = Container::new();
    let x = container.input(&Ty::scalar(DType::Float64), None, Some(payload));
    let graph = FunctionGraph::new(&container, &[x.clone()], &[x]).unwrap();
    hold();
    std::thread::spawn(move || drop((graph, container))).join().unwrap();
    release_in_child();
    assert!(kept.upgrade().is_some());
    drop_left();
    assert!(kept.upgrade().is_none());
}
