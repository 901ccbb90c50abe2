// All terms of the page with their meanings.
import { el } from "../../frame/dom";
import { GLOSSARY } from "../../wording/glossary";
import type { Panel } from "../../frame/panel";

export const glossary: Panel = {
    id: "glossary",
    title: "Terms",
    about: "What the words of this page mean.",
    build(host) {
        const list = el("dl", { class: "glossary" });
        for (const [name, meaning] of Object.entries(GLOSSARY).sort(([a], [b]) => a.localeCompare(b))) {
            list.append(el("dt", {}, name), el("dd", {}, meaning));
        }
        host.append(list);
    },
};
