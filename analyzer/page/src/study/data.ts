// What stands in the page of a study; docs/page-data.md says what it is.

export interface RunRow {
    number: number;
    program: string;
    ranks: number;
    params: Record<string, number>;
    hosts: string[];
    started_unix_s: number;
    command: string[];
    complete: boolean;
    elapsed_s: number;
    max_computation_s: number;
    avg_computation_s: number;
    t_ideal_s: number | null;
    parallel: number | null;
    load_balance: number | null;
    micro_load_balance: number | null;
    transfer: number | null;
}

export interface Line {
    name: string;
    values: (number | null)[];
}

export interface Section {
    name: string;
    unit: "seconds" | "share" | "ratio";
    lines: Line[];
}

/** Runs that differ by one thing alone. */
export interface ScalingTable {
    program: string;
    /** What they have in common. */
    fixed: string;
    x: number[];
    sections: Section[];
    remarks: string[];
}

export interface Scaling {
    by: string;
    tables: ScalingTable[];
}

export interface PointRow {
    run: number;
    x: number;
    y: number;
    /** Whether the linear law is not of it. */
    leaves: boolean;
    residual: number | null;
}

export interface RelationRow {
    phase: string;
    from: string;
    to: string;
    /** Whether `to` is in seconds. */
    is_time: boolean;
    equation: string | null;
    /** Why there is no equation. */
    problem: string | null;
    is_law: boolean;
    independent: boolean;
    relative_error: number | null;
    r_squared: number | null;
    held: Record<string, number>;
    points: PointRow[];
    curve: [number, number][];
    degree: number | null;
    errors: { degree: number; error: number }[];
    leaving: { run: number; x: number; excess_s: number; max_resident_bytes: number | null; max_swapped_bytes: number | null }[];
}

export interface GraphNode {
    id: string;
    label: string;
    kind: "variable" | "work" | "phase" | "total" | "result";
}

export interface GraphEdge {
    from: string;
    to: string;
    kind: "fitted" | "defined" | "unknown";
    /** The equation, or why there is none. */
    text: string;
    relative_error: number | null;
    n_runs: number | null;
    note: string | null;
}

export interface Graph {
    nodes: GraphNode[];
    edges: GraphEdge[];
    independent: [string, string][];
}

export interface Program {
    program: string;
    relations: RelationRow[];
    graph: Graph;
}

export interface StudyData {
    name: string;
    /** Names of parameters. */
    params: string[];
    runs: RunRow[];
    scaling: Scaling[];
    programs: Program[];
    /** Why some have no models. */
    problems: string[];
}
