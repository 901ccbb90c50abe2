// Colours that the colour-blind distinguish: Okabe and Ito's for kinds, viridis and cividis for amounts.

import { STATES } from "./states.generated";

const OKABE_ITO = {
    orange: "#e69f00",
    sky: "#56b4e9",
    green: "#009e73",
    yellow: "#f0e442",
    blue: "#0072b2",
    vermillion: "#d55e00",
    purple: "#cc79a7",
    grey: "#8c8c8c",
};

const OF_WAITING: Record<string, string> = { "waiting": OKABE_ITO.vermillion, "blocking": OKABE_ITO.vermillion };

/** Colour of a state of time or of waiting. */
export function stateColour(name: string): string {
    return STATES[name]?.colour ?? OF_WAITING[name] ?? OKABE_ITO.grey;
}

/** Limits of efficiencies that are good and fair; POP looks for causes below 80 %. */
const [GOOD_EFFICIENCY, FAIR_EFFICIENCY] = [0.8, 0.6];

/** The limits in words. */
export const EFFICIENCY_LIMITS = `green from ${100 * GOOD_EFFICIENCY} %, yellow from ${100 * FAIR_EFFICIENCY} %, red below`;

/** Colour of an efficiency; no state has it. */
export function efficiencyColour(efficiency: number): string {
    return efficiency >= GOOD_EFFICIENCY ? "#4c9a52" : efficiency >= FAIR_EFFICIENCY ? "#d9b310" : "#b3261e";
}

/** Colours of the letters of a pattern: least, lower 15 %, between, upper 15 %, longest. */
export const PATTERN_COLOURS: Record<string, string> = {
    m: OKABE_ITO.blue,
    l: OKABE_ITO.sky,
    u: OKABE_ITO.orange,
    M: OKABE_ITO.vermillion,
};

/** Colours of series in line charts, in their order. */
export const SERIES = [OKABE_ITO.vermillion, OKABE_ITO.blue, OKABE_ITO.green, OKABE_ITO.purple, OKABE_ITO.orange, OKABE_ITO.sky];

/** Colours of regions, in their order: none is a state's of computation or waiting, which stand below them. */
export const REGION_COLOURS = ["#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#f0e442", "#7a6fbe", "#a3c46b", "#b5651d", "#5f9ea0", "#d98880"];

/** Nine colours each at equal steps; what lies between is interpolated. `difference` has less in blue, more in vermillion, and its middle is pale. */
const STOPS = {
    viridis: ["440154", "472d7b", "3b528b", "2c728e", "21918c", "28ae80", "5ec962", "addc30", "fde725"],
    difference: ["0072b2", "3d8dc0", "79a9cd", "b0c5d6", "dcdcda", "e2c4ab", "dea479", "da8139", "d55e00"],
    cividis: ["00224e", "123570", "3b496c", "575d6d", "707173", "8a8678", "a59c74", "c3b369", "fee838"],
};

export type ScaleName = keyof typeof STOPS;

/** A colour as ImageData takes it on little-endian machines: 0xAABBGGRR. */
export function pixel(colour: string): number {
    const value = parseInt(colour.replace("#", ""), 16);
    return (0xff000000 | ((value & 0xff) << 16) | (value & 0xff00) | (value >> 16)) >>> 0;
}

/** 256 pixels from the least to the largest amount. */
export function scalePixels(name: ScaleName): Uint32Array {
    const stops = STOPS[name].map((stop) => parseInt(stop, 16));
    const table = new Uint32Array(256);
    for (let i = 0; i < 256; i++) {
        const place = (i / 255) * (stops.length - 1);
        const below = Math.min(stops.length - 2, Math.floor(place));
        const channel = (shift: number) => {
            const from = (stops[below] >> shift) & 0xff;
            const to = (stops[below + 1] >> shift) & 0xff;
            return Math.round(from + (to - from) * (place - below));
        };
        table[i] = (0xff000000 | (channel(0) << 16) | (channel(8) << 8) | channel(16)) >>> 0;
    }
    return table;
}

/** The scale as a CSS gradient, for the legend. */
export function scaleGradient(name: ScaleName): string {
    return `linear-gradient(to right, ${STOPS[name].map((stop) => `#${stop}`).join(", ")})`;
}
