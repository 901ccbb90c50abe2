// Arrays of numbers as the page carries them: base64 of gzip of little-endian numbers.

export interface PackedText {
    type: "u8" | "u32" | "i32" | "f16" | "f32";
    scale?: number;
    data: string;
}

/**
 * An unpacked array: `at(i)` is the number, NaN where there is none. Hot loops read `raw` and `scale` themselves; matrices are
 * all of one type, so that these loops are compiled for it.
 */
export class PackedNumbers {
    constructor(
        readonly raw: Float32Array | Float64Array,
        readonly scale: number,
    ) {}

    get length(): number {
        return this.raw.length;
    }

    at(index: number): number {
        return (this.raw[index] ?? NaN) * this.scale;
    }
}

export async function unpack(text: PackedText): Promise<PackedNumbers> {
    return new PackedNumbers(numbers(text.type, await gunzip(text.data)), text.scale ?? 1);
}

/** Whole numbers of 32 bits need more digits than a float has. */
function numbers(type: PackedText["type"], buffer: ArrayBuffer): Float32Array | Float64Array {
    switch (type) {
        case "u8":
            return Float32Array.from(new Uint8Array(buffer));
        case "u32":
            return Float64Array.from(new Uint32Array(buffer), (value) => (value === 4294967295 ? NaN : value));
        case "i32":
            return Float64Array.from(new Int32Array(buffer));
        case "f16":
            return fromHalves(new Uint16Array(buffer));
        case "f32":
            return new Float32Array(buffer);
    }
}

/** IEEE half floats as floats: by a table of all 65,536, for there are millions of them. */
function fromHalves(halves: Uint16Array): Float32Array {
    const table = halfTable();
    const floats = new Float32Array(halves.length);
    for (let i = 0; i < halves.length; i++) {
        floats[i] = table[halves[i]];
    }
    return floats;
}

let halves: Float32Array | null = null;

function halfTable(): Float32Array {
    halves ??= Float32Array.from({ length: 65536 }, (_, bits) => {
        const sign = bits & 0x8000 ? -1 : 1;
        const exponent = (bits >> 10) & 31;
        const fraction = bits & 1023;
        if (exponent === 31) {
            return fraction ? NaN : sign * Infinity;
        }
        return sign * (exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25));
    });
    return halves;
}

async function gunzip(base64: string): Promise<ArrayBuffer> {
    const text = atob(base64);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) {
        bytes[i] = text.charCodeAt(i);
    }
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).arrayBuffer();
}

function isPacked(value: object): value is PackedText {
    return "data" in value && "type" in value && typeof value.data === "string";
}

/** `value` with every packed array in it, at any depth, unpacked. */
export async function unpackAll(value: unknown): Promise<unknown> {
    if (Array.isArray(value)) {
        return Promise.all(value.map(unpackAll));
    }
    if (value === null || typeof value !== "object") {
        return value;
    }
    if (isPacked(value)) {
        return unpack(value);
    }
    const entries = Object.entries(value).map(async ([key, inner]) => [key, await unpackAll(inner)] as const);
    return Object.fromEntries(await Promise.all(entries));
}
