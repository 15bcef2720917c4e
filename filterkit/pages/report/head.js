// The head of the page, and the choice of a measure and a share.
"use strict";

function head({ title, made, notes }) {
    const facts = made.facts.flatMap(([name, text]) => [
        element("dt", {}, visible(name)),
        element("dd", {}, nameElement(text)),
    ]);
    return element(
        "header",
        {},
        element("h1", {}, visible(title)),
        ...notes.map((note) => element("p", { class: "warning" }, note)),
        element(
            "details",
            { class: "made" },
            element("summary", {}, "How this was made"),
            element("pre", {}, visible(made.command)),
            element("dl", {}, ...facts, element("dt", {}, "program"), element("dd", {}, visible(made.program))),
        ),
    );
}

function controls({ data, state }, change) {
    const measures = data.measures.map(({ name, title }) => ({ value: name, label: title }));
    const shares = data.shares.map((share, i) => ({ value: i, label: shareText(share) }));
    return element(
        "div",
        { class: "controls chooser screen-only", role: "group", "aria-label": "What is shown" },
        choice("Measure", measures, state.measure, (measure) => change({ measure })),
        shares.length > 1
            ? choice("Trained on", shares, state.share, (share) => change({ share: Number(share) }))
            : null,
    );
}
