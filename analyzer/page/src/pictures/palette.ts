// Colours that the colour-blind distinguish. Each has one meaning: those of states are states' alone.

import { STATES } from "../generated/states.generated";

const OF_WAITING: Record<string, string> = { "waiting": "#d55e00", "blocking": "#d55e00" };

/** Colour of a state of time or of waiting. */
export function stateColour(name: string): string {
    return STATES[name]?.colour ?? OF_WAITING[name] ?? OTHERS_COLOUR;
}

/** Limits of efficiencies that are good and fair; POP looks for causes below 80 %. */
const [GOOD_EFFICIENCY, FAIR_EFFICIENCY] = [0.8, 0.6];

/** The limits in words. */
export const EFFICIENCY_LIMITS = `green from ${100 * GOOD_EFFICIENCY} %, yellow from ${100 * FAIR_EFFICIENCY} %, red below`;

/** Colour of an efficiency; no state has it. */
export function efficiencyColour(efficiency: number): string {
    return efficiency >= GOOD_EFFICIENCY ? "#4c9a52" : efficiency >= FAIR_EFFICIENCY ? "#d9b310" : "#b3261e";
}

/** Less and more than the mean or the median. */
export const [LESS_COLOUR, MORE_COLOUR] = ["#01665e", "#c51b7d"];

/** Colours of the letters of a pattern: least, lower 15 %, between, upper 15 %, longest. */
export const PATTERN_COLOURS: Record<string, string> = { m: LESS_COLOUR, l: "#80c4bc", u: "#eda3cb", M: MORE_COLOUR };

/** Colours of regions and series, in their order: none is a state's. */
export const CATEGORIES = ["#aa4488", "#4b8f9e", "#8a9a2e", "#b08fe6", "#a98467", "#44369e", "#5d4326", "#9fb8a0"];

/** Colours of the functions that are seen most: pale, for they stand beside regions. */
export const FUNCTION_COLOURS = ["#f7b6d2", "#9edae5", "#98df8a", "#ffbb78", "#dbdb8d", "#aec7e8", "#c49c94", "#e5d8f0"];

/** The colour of all that has none of its own. */
export const OTHERS_COLOUR = "#c2bfb8";

/** The colour of a region; those without a number are others. */
export function categoryColour(at: number): string {
    return CATEGORIES[at % CATEGORIES.length] ?? OTHERS_COLOUR;
}

/** Nine colours each at equal steps; what lies between is interpolated. `difference` has a pale middle between less and more. */
const STOPS = {
    viridis: ["440154", "472d7b", "3b528b", "2c728e", "21918c", "28ae80", "5ec962", "addc30", "fde725"],
    difference: ["01665e", "35978f", "72b5ae", "abcac5", "dcdcda", "dfb5ca", "d883b3", "ce4f98", "c51b7d"],
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
