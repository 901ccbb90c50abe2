import type { Panel } from "../panel";
export const patterns: Panel = { id: "patterns", title: "patterns", about: "", build() {} };
