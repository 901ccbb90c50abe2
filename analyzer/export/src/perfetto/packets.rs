//! The messages of Perfetto's trace format that we write, with the field numbers of its `trace_packet.proto`.

use prost::Message;

/// A part of a trace; a trace is packets one after the other, each as field 1.
#[derive(Clone, PartialEq, Message)]
pub struct TracePacket {
    /// Nanoseconds.
    #[prost(uint64, optional, tag = "8")]
    pub timestamp: Option<u64>,
    /// The sequence whose interned names are meant.
    #[prost(uint32, optional, tag = "10")]
    pub sequence: Option<u32>,
    /// Something happens on a track.
    #[prost(message, optional, tag = "11")]
    pub event: Option<TrackEvent>,
    /// Names that events use by number from here on.
    #[prost(message, optional, tag = "12")]
    pub interned: Option<InternedData>,
    /// 1: the sequence begins; 2: interned names are used.
    #[prost(uint32, optional, tag = "13")]
    pub flags: Option<u32>,
    /// A track.
    #[prost(message, optional, tag = "60")]
    pub track: Option<TrackDescriptor>,
}

/// A track.
#[derive(Clone, PartialEq, Message)]
pub struct TrackDescriptor {
    /// Its number.
    #[prost(uint64, optional, tag = "1")]
    pub uuid: Option<u64>,
    /// Its name, unless it is a process or thread.
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
    /// The process, if the track is one.
    #[prost(message, optional, tag = "3")]
    pub process: Option<ProcessDescriptor>,
    /// The thread, if the track is one.
    #[prost(message, optional, tag = "4")]
    pub thread: Option<ThreadDescriptor>,
    /// The track that it belongs to.
    #[prost(uint64, optional, tag = "5")]
    pub parent: Option<u64>,
}

/// A process: a rank.
#[derive(Clone, PartialEq, Message)]
pub struct ProcessDescriptor {
    /// Its number.
    #[prost(int32, optional, tag = "1")]
    pub pid: Option<i32>,
    /// Its name.
    #[prost(string, optional, tag = "6")]
    pub name: Option<String>,
}

/// A thread.
#[derive(Clone, PartialEq, Message)]
pub struct ThreadDescriptor {
    /// Its process.
    #[prost(int32, optional, tag = "1")]
    pub pid: Option<i32>,
    /// Its number, which no other thread of the trace has.
    #[prost(int64, optional, tag = "2")]
    pub tid: Option<i64>,
    /// Its name.
    #[prost(string, optional, tag = "5")]
    pub name: Option<String>,
}

/// Something happens on a track.
#[derive(Clone, PartialEq, Message)]
pub struct TrackEvent {
    /// The number of its interned category.
    #[prost(uint64, repeated, packed = "false", tag = "3")]
    pub categories: Vec<u64>,
    /// Facts about it.
    #[prost(message, repeated, tag = "4")]
    pub facts: Vec<EventAnnotation>,
    /// See the constants.
    #[prost(int32, optional, tag = "9")]
    pub kind: Option<i32>,
    /// The number of its interned name.
    #[prost(uint64, optional, tag = "10")]
    pub name: Option<u64>,
    /// Its track.
    #[prost(uint64, optional, tag = "11")]
    pub track: Option<u64>,
    /// Arrows that begin here.
    #[prost(fixed64, repeated, packed = "false", tag = "47")]
    pub flows: Vec<u64>,
    /// Arrows that end here.
    #[prost(fixed64, repeated, packed = "false", tag = "48")]
    pub ending_flows: Vec<u64>,
}

/// A slice begins.
pub const BEGIN: i32 = 1;
/// The slice ends that began last on the track.
pub const END: i32 = 2;
/// A slice without length.
pub const INSTANT: i32 = 3;

/// A fact about an event.
#[derive(Clone, PartialEq, Message)]
pub struct EventAnnotation {
    /// The number of its interned name.
    #[prost(uint64, optional, tag = "1")]
    pub name: Option<u64>,
    /// A number.
    #[prost(int64, optional, tag = "4")]
    pub number: Option<i64>,
    /// The number of an interned text.
    #[prost(uint64, optional, tag = "17")]
    pub text: Option<u64>,
}

/// Names that events use by number.
#[derive(Clone, PartialEq, Message)]
pub struct InternedData {
    /// Categories of events.
    #[prost(message, repeated, tag = "1")]
    pub categories: Vec<InternedText>,
    /// Names of events.
    #[prost(message, repeated, tag = "2")]
    pub events: Vec<InternedText>,
    /// Names of facts.
    #[prost(message, repeated, tag = "3")]
    pub facts: Vec<InternedText>,
    /// Texts of facts.
    #[prost(message, repeated, tag = "29")]
    pub texts: Vec<InternedText>,
}

/// A numbered text.
#[derive(Clone, PartialEq, Message)]
pub struct InternedText {
    /// Its number, at least 1.
    #[prost(uint64, optional, tag = "1")]
    pub id: Option<u64>,
    /// The text.
    #[prost(string, optional, tag = "2")]
    pub text: Option<String>,
}
