import type { Panel } from "../panel";
export const waiting: Panel = { id: "waiting", title: "waiting", about: "", build() {} };
