// The page's own words for numbers, as a module for the tests.
import { source } from "./sources.mjs";

export const { oneUnit, seconds, secondsLike, percent, ranges, signedPercent, count, bytes, roundTicks, shortPath, withoutTemplateArguments } = await source("wording/words");
