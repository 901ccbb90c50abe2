//! Any bytes from a socket are a message of another rank or not, without a panic or much memory; what is understood is written and read as the same.
#![no_main]
#![allow(dead_code, reason = "only a part of the recorder")]

use libfuzzer_sys::fuzz_target;

#[path = "../../src/run/messages.rs"]
mod messages;

use messages::{
    RankIntroduction, decode_measurers, decode_offer, encode_measurers, encode_offer, frame_message, receive_message,
};

fuzz_target!(|bytes: &[u8]| {
    if let Some(bytes) = bytes.first_chunk() {
        let peer = RankIntroduction::decoded(*bytes);
        assert_eq!(RankIntroduction::decoded(peer.encoded()), peer);
    }
    if let Ok(message) = receive_message(&mut &*bytes) {
        assert!(message.len() + 4 <= bytes.len());
        understand(&message);
    }
    understand(bytes);
    assert_eq!(receive_message(&mut &*frame_message(bytes)).ok().as_deref(), Some(bytes));
});

fn understand(message: &[u8]) {
    let offer = decode_offer(message);
    assert_eq!(decode_offer(&encode_offer(offer.as_ref())), offer);
    let measuring = decode_measurers(message);
    assert_eq!(decode_measurers(&encode_measurers(measuring.as_deref())), measuring);
}
