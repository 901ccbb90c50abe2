//! Any bytes from a socket are a message of another rank or not, without a panic or much memory; what is understood is written and read as the same.
#![no_main]
#![allow(dead_code, reason = "only a part of the recorder")]

use libfuzzer_sys::fuzz_target;

#[path = "../../src/run/messages.rs"]
mod messages;

/// What the messages need of the recorder.
mod system {
    pub mod descriptors {
        pub type Identity = (u64, u64);
    }
}

use messages::{Measuring, Offer, Peer, framed, receive};

fuzz_target!(|bytes: &[u8]| {
    if let Some(bytes) = bytes.first_chunk() {
        let peer = Peer::decoded(*bytes);
        assert_eq!(Peer::decoded(peer.encoded()), peer);
    }
    if let Ok(message) = receive(&mut &*bytes) {
        assert!(message.len() + 4 <= bytes.len());
        understand(&message);
    }
    understand(bytes);
    assert_eq!(receive(&mut &*framed(bytes)).ok().as_deref(), Some(bytes));
});

fn understand(message: &[u8]) {
    let offer = Offer::decoded(message);
    assert_eq!(Offer::decoded(&offer.encoded()), offer);
    let measuring = Measuring::decoded(message);
    assert_eq!(Measuring::decoded(&measuring.encoded()), measuring);
}
