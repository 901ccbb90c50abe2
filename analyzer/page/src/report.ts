// What the page reads of the report: the keys of docs/report-json.md that it shows.

/** Seconds by activity. */
export type ByActivity = Record<string, number>;

export interface Problem {
    kind: string;
    severity: "note" | "partial" | "doubtful";
    ranks: number[];
    count: number;
    meaning: string;
    details: string[];
    advice: string;
}

export interface Run {
    id: string;
    ranks: number;
    ranks_recorded: number;
    ranks_present: number;
    hosts: number;
    elapsed_s: number;
    mpi: string;
    abi: string;
    command: string[];
    started_unix_s: number;
    recorder: string;
    settings: string[];
    params: Record<string, number>;
    complete: boolean;
    problems: Problem[];
    events: number;
    calls: number;
    dropped_events: number;
    recorder_s: number;
    idle_s: number;
    paused_s: number;
    unknown_s: number;
    common_clock: boolean;
    clock_error_s: number | null;
}

export interface Efficiency {
    load_balance: number | null;
    micro_load_balance: number | null;
    /** The range in which it lies; null where that is not known. */
    micro_load_balance_min: number | null;
    micro_load_balance_max: number | null;
    transfer: number | null;
    transfer_min: number | null;
    transfer_max: number | null;
    communication: number | null;
    parallel: number | null;
    elapsed_s: number;
    t_ideal_s: number | null;
    /** Whether it is known well: else the two ratios are bounds. */
    t_ideal_certain: boolean;
    t_ideal_max_s: number | null;
    t_ideal_phase_profile_above_elapsed: boolean;
    t_ideal_phase_profile_s: number | null;
    t_ideal_phase_profile_bound_s: number | null;
    t_ideal_replay_s: number | null;
    max_computation_s: number;
    avg_computation_s: number;
}

export interface RankRow {
    rank: number;
    host: string;
    begin_s: number;
    end_s: number;
    computation_s: number;
    over_mean: number | null;
    activities: ByActivity;
    idle_s: number;
    blocked_s: number | null;
    blocking_caused_s: number | null;
    cluster: number | null;
}

export interface ActivityRow {
    name: string;
    time_s: number;
    share: number;
    mean_s: number;
    max_s: number;
    max_rank: number;
    calls: number;
    sent_bytes: number;
    received_bytes: number;
    id_a: number | null;
    sid_a: number | null;
    severe: boolean;
    worst_region: string | null;
    best_region: string | null;
}

export interface RegionRow {
    path: string;
    source: string;
    kind: string;
    iterated: boolean;
    time_s: number;
    share: number;
    id_c: number | null;
    sid_c: number | null;
    severe: boolean;
    group: number | null;
    most_imbalanced: { rank: number; id_p: number } | null;
    efficiency: Efficiency;
    slowest_rank: number | null;
    iterations: number | null;
}

export interface Cause {
    rank: number;
    region: string;
    activity: string | null;
    class: string;
    caused_s: number;
    own_s: number | null;
    beta: number | null;
}

export interface PhaseCost {
    region: string;
    class: string;
    own_s: number;
    caused_s: number;
    beta: number | null;
    total_s: number;
}

export interface WaitRow {
    callsite: number | null;
    operation: string;
    region: string;
    state: string;
    count: number;
    waiting_s: number;
    delay_s: number;
}

export interface Pair {
    waits: number;
    causes: number;
    time_s: number;
}

export interface Blocking {
    total_s: number;
    by_class: Record<string, number>;
    causes: Cause[];
    phases: PhaseCost[];
    states: { state: string; count: number; waiting_s: number; delay_s: number }[];
    waits: WaitRow[];
    pairs: Pair[];
}

export interface Replay {
    what: string;
    region: string | null;
    rank: number | null;
    times: number | null;
    latency_s: number | null;
    bytes_per_s: number | null;
    time_s: number;
    saved_s: number;
}

export interface PathPart {
    region: string;
    activity: string | null;
    time_s: number;
    rank: number;
    rank_s: number;
}

export interface CallSite {
    id: number | null;
    function: string | null;
    file: string | null;
    line: number | null;
    module: string | null;
    offset: number | null;
    operation: string;
    activity: string;
    calls: number;
    time_s: number;
    max_s: number;
    max_rank: number;
    blocked_s: number | null;
    bytes: number;
}

export interface Pattern {
    activity: string;
    region: string;
    min_s: number;
    max_s: number;
    ranks: string;
}

export interface Cluster {
    id: number;
    ranks: number[];
    efficiency: Efficiency;
}

export interface OverheadPhase {
    phase: string;
    time_s: number;
    ratio: number | null;
    ratio_by_rank: number[] | null;
}

export interface Overheads {
    t_seq_s: number;
    t_seq: string;
    efficiency: number | null;
    speedup: number | null;
    phases: OverheadPhase[];
    imbalance: Record<string, number | null>;
}

export interface Loop {
    name: string;
    parent: number | null;
    main: boolean;
    told: boolean;
    ranks: number[];
    ends_at: { operation: string; function: string | null; file: string | null; line: number | null } | null;
    iterations_min: number;
    iterations_max: number;
    /** The range that the doubt leaves open. */
    possible_min: number | null;
    possible_max: number | null;
    covered: number;
    sureness: string | null;
    doubt: string | null;
}

/** Where time is lost; `lost_s` is a mean over ranks. */
export interface LossRow {
    lost_s: number;
    measured: boolean;
    /** The loss as a sentence. */
    text: string;
}

/** The part of the run that all figures are of; what is null is not restricted. */
export interface Selected {
    ranks: number[] | null;
    region: string | null;
    activities: string[] | null;
    from_s: number | null;
    from_iteration: number | null;
    to_s: number | null;
    to_iteration: number | null;
}

export interface Report {
    generator: string;
    run: Run;
    selection: Selected | null;
    verdict: { kind: string; text: string; lost_s: number; [key: string]: unknown };
    losses: LossRow[];
    efficiency: Efficiency;
    overheads: Overheads;
    ranks: RankRow[];
    activities: ActivityRow[];
    regions: RegionRow[];
    loops: Loop[];
    iterations: { source: string; region: string | null; count: number };
    blocking: Blocking | null;
    replays: Replay[];
    critical_path: { time_s: number; parts: PathPart[]; ranks: { rank: number; time_s: number }[] } | null;
    dispersion: {
        rank_by: string;
        most_frequently_imbalanced_rank: number | null;
        longest_imbalanced_rank: number | null;
        patterns: Pattern[];
    };
    clusters: Cluster[];
    callsites: CallSite[];
    counters: { name: string; region: string; n: number; sum: number; min: number; max: number }[];
}
