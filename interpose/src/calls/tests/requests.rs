//! The table of open requests: what shares a handle comes back in the order in which it was started.

use crate::handles::requests::{
    ACTIVE, MAKES_COMM, OpenRequest, PERSISTENT, READS, RECEIVES, WRITES, insert_request, new_id, peek_polled,
    peek_request, set_concurrent, take_request, take_usual,
};

fn open(id: u32) -> OpenRequest {
    OpenRequest { id, comm: 0, peer: 0, tag: 0, sent: 0, received: 0, kind: 0 }
}

fn ids_of(handle: usize) -> Vec<u32> {
    std::iter::from_fn(|| take_request(handle)).map(|open| open.id).collect()
}

#[test]
fn requests_with_one_handle_come_back_oldest_first() {
    // More than a bucket holds.
    const HANDLE: usize = 0x7000_1230;
    (0..24).for_each(|id| insert_request(HANDLE, open(id)));
    // As a persistent request goes: taken, and back under a new id.
    assert_eq!(peek_request(HANDLE), Some(open(0)));
    assert_eq!(peek_polled(HANDLE).map(|polled| polled.id), Some(0));
    assert_eq!(take_request(HANDLE), Some(open(0)));
    insert_request(HANDLE, open(24));
    for id in 1..20 {
        assert_eq!((peek_request(HANDLE), take_request(HANDLE)), (Some(open(id)), Some(open(id))));
        insert_request(HANDLE, open(24 + id));
    }
    assert_eq!(ids_of(HANDLE), (20..=43).collect::<Vec<_>>());
}

#[test]
fn the_oldest_comes_first_also_where_ids_wrap() {
    const HANDLE: usize = 0x7000_4560;
    let ids = [0x7fff_fffe, 0x7fff_ffff, 0, 1];
    ids.iter().rev().for_each(|&id| insert_request(HANDLE, open(id)));
    assert_eq!(ids_of(HANDLE), ids);
}

#[test]
fn any_number_of_requests_may_share_a_handle() {
    // Taken one by one from the front of an array, these would keep the test busy for minutes.
    const HANDLE: usize = 0x7000_7890;
    let n = 400_000;
    (0..n).for_each(|id| insert_request(HANDLE, open(id)));
    assert_eq!(ids_of(HANDLE), (0..n).collect::<Vec<_>>());
}

#[test]
fn a_usual_request_at_home_is_taken_at_once_and_others_are_left() {
    const HANDLE: usize = 0x7000_9990;
    let usual = OpenRequest { kind: RECEIVES | 1, ..open(5) };
    insert_request(HANDLE, usual);
    assert_eq!((take_usual(HANDLE), take_usual(HANDLE), take_request(HANDLE)), (Some(usual), None, None));
    for more_to_do in [PERSISTENT | ACTIVE, MAKES_COMM, READS, WRITES] {
        let unusual = OpenRequest { kind: more_to_do, ..usual };
        insert_request(HANDLE, unusual);
        assert_eq!((take_usual(HANDLE), take_request(HANDLE)), (None, Some(unusual)));
    }
    // The second with the same handle is elsewhere, and so might be the older one.
    insert_request(HANDLE, open(7));
    insert_request(HANDLE, open(6));
    assert_eq!((take_usual(HANDLE), ids_of(HANDLE)), (None, vec![6, 7]));
}

#[test]
fn calls_that_never_overlap_find_the_same_requests() {
    const HANDLE: usize = 0x7000_aab0;
    for is_concurrent in [false, true] {
        set_concurrent(is_concurrent);
        (0..24).for_each(|id| insert_request(HANDLE, open(id)));
        assert_eq!(ids_of(HANDLE), (0..24).collect::<Vec<_>>());
        insert_request(HANDLE, open(24));
        assert_eq!((take_usual(HANDLE), take_usual(HANDLE), peek_request(HANDLE)), (Some(open(24)), None, None));
        let ids: Vec<u32> = std::iter::repeat_with(new_id).take(3).collect();
        let first = if is_concurrent { 3 } else { 0 };
        assert_eq!(ids, (first..first + 3).collect::<Vec<_>>());
    }
}

#[test]
fn a_look_gives_one_request_whole_while_others_come_and_go() {
    const HANDLE: usize = 0x7000_3210;
    let of = |n: u32| OpenRequest {
        id: n,
        comm: n,
        peer: n as i32,
        tag: n as i32,
        sent: n.into(),
        received: n.into(),
        kind: u64::from(n),
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in 0..200_000 {
                insert_request(HANDLE, of(n));
                assert_eq!(take_request(HANDLE), Some(of(n)));
            }
            insert_request(HANDLE, of(200_000));
        });
        loop {
            let Some(open) = peek_request(HANDLE) else { continue };
            assert_eq!(open, of(open.id));
            if let Some(polled) = peek_polled(HANDLE) {
                assert_eq!((polled.comm, polled.activity), (polled.id, of(polled.id).kind as u16 & 7));
            }
            if open.id == 200_000 {
                break;
            }
        }
    });
    assert_eq!(take_request(HANDLE), Some(of(200_000)));
}
