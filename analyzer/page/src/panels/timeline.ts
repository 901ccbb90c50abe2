import type { Panel } from "../panel";
export const timeline: Panel = { id: "timeline", title: "timeline", about: "", build() {} };
