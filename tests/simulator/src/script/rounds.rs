//! Scripts for runs that can be cut at collectives of all ranks, here and there.

use super::program::Script;

impl Script {
    /// A program of 4 ranks that goes through these rounds, a kind below 14 and a number of chance each: ranks compute for different times, and communicate in
    /// some way. After every third all ranks meet; of some kinds something is in transit then. Sends are buffered: nobody waits for a receive.
    pub fn rounds(kinds: &[(u8, u32)]) -> Script {
        let mut text =
            "ranks 4\nlatency 0.05\nbandwidth 1000\noverhead 0.01\ncomm row 0..1\ncomm row 2..3\nlate 2 0.7\n"
                .to_owned();
        for (round, &(kind, chance)) in kinds.iter().enumerate() {
            for rank in 0..4 {
                // No two ranks come at the same time.
                let ms = 1.0 + f64::from((chance ^ (rank * 0x9e37)) % 997) / 331.0 + f64::from(rank) * 1e-4;
                let (root, next, before) = (chance % 4, (rank + 1) % 4, (rank + 3) % 4);
                let does = match kind {
                    0 => format!("bsend {next}; recv {before}"),
                    1 => format!("irecv {before} as a; bsend {next} bytes 100; compute 0.{rank}3; wait a"),
                    2 => format!("bcast 100 root {root}"),
                    3 => format!("reduce 8 root {root}"),
                    4 => "scan 8".to_owned(),
                    5 => "allreduce 8 on row".to_owned(),
                    // In transit while all meet.
                    6 => format!("irecv {before} as a; allreduce 8; compute {ms:.4}; bsend {next}; wait a"),
                    7 if rank == 0 => "recv any tag 9; recv any tag 9; recv any tag 9".to_owned(),
                    7 => "bsend 0 tag 9 bytes 50".to_owned(),
                    // Sent before all meet, received after that.
                    8 if rank == root => format!("bsend {} tag 3; barrier", (root + 1) % 4),
                    8 if rank == (root + 1) % 4 => format!("barrier; compute 0.3; recv {root} tag 3"),
                    8 => "barrier".to_owned(),
                    9 => "iallreduce 8 as c; compute 0.2; wait c".to_owned(),
                    _ => "allreduce 8".to_owned(),
                };
                text += &format!("rank {rank}:\ncompute {ms:.4}\niteration step\ncompute {ms:.4}\n{does}\nend\n");
                if round % 3 == 2 {
                    text += &format!("compute {:.4}\nallreduce 16\n", ms / 3.0);
                }
            }
        }
        // They end one after another.
        (0..4).for_each(|rank| text += &format!("rank {rank}:\ncompute 0.{rank}7\n"));
        Script::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }
}
