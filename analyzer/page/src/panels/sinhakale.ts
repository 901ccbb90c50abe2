import type { Panel } from "../panel";
export const sinhaKale: Panel = { id: "sinhakale", title: "sinhakale", about: "", build() {} };
