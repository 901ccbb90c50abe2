//! The table of `LBPROF_*` settings: name, default, meaning; read by the recorder, by `lb-run` and by the docs.

/// One setting.
pub struct Setting {
    /// Name of the environment variable.
    pub name: &'static str,
    /// Option of `lb-run` that sets it, without the dashes; `None`: environment only.
    pub flag: Option<&'static str>,
    /// Its value where it is not set, as the user would write it.
    pub default: &'static str,
    /// What the values may be.
    pub values: &'static str,
    /// What it does, in one sentence.
    pub meaning: &'static str,
}

/// All settings. A variable `LBPROF_*` that is not here is warned of once, on rank 0.
pub const SETTINGS: &[Setting] = &[
    Setting {
        name: "LBPROF_DIR",
        flag: Some("dir"),
        default: "lbprof-out",
        values: "a folder; %j job id, %h host, %x program, %% a percent sign",
        meaning: "Folder for the logs of the run; where it exists, the next free name-2, name-3 … is taken.",
    },
    Setting {
        name: "LBPROF_MODE",
        flag: Some("mode"),
        default: "events",
        values: "events | profile | off",
        meaning: "Write every call, or the phase profile only, or nothing.",
    },
    Setting {
        name: "LBPROF_BUFFER",
        flag: Some("buffer"),
        default: "128K",
        values: "32K to 16M bytes, with K, M",
        meaning: "Size of each thread's ring.",
    },
    Setting {
        name: "LBPROF_LIMIT",
        flag: Some("limit"),
        default: "4G",
        values: "bytes, with K, M, G; 0: none",
        meaning: "Bytes of log that a rank may write before it falls back to profile mode.",
    },
    Setting {
        name: "LBPROF_RANKS",
        flag: Some("ranks"),
        default: "all",
        values: "a list of ranks and ranges: 0,8-15,0-63:4",
        meaning: "Ranks that record; the others only take part in measuring clocks.",
    },
    Setting {
        name: "LBPROF_PCONTROL",
        flag: Some("pcontrol"),
        default: "levels",
        values: "levels | labels",
        meaning: "Meaning of MPI_Pcontrol: levels only, or also (1, \"name\") and (-1, \"name\").",
    },
    Setting {
        name: "LBPROF_CLOCK",
        flag: None,
        default: "auto",
        values: "auto | tsc | monotonic",
        meaning: "Clock for time stamps; auto takes the time stamp counter where it is invariant.",
    },
    Setting {
        name: "LBPROF_VERBOSE",
        flag: Some("verbose"),
        default: "0",
        values: "0 | 1",
        meaning: "1: rank 0 tells on stderr where the logs go and what was recorded.",
    },
];
