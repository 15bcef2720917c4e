// Beside the ROC plane: the corners of the rectangle, and all about one feature.
"use strict";

/** Inputs for the corners of the rectangle, so that it needs no pointer. */
function boxControls(change) {
    const input = (label, initial) =>
        element("input", {
            type: "number",
            min: 0,
            max: 1,
            step: "any",
            value: initial,
            "aria-label": label,
            onchange: set,
        });
    const inputs = [input("least fpr", 0), input("largest fpr", 1), input("least tpr", 0), input("largest tpr", 1)];
    const [left, right, bottom, top] = inputs;
    const clear = element("button", { type: "button", disabled: true, onclick: () => change({ box: null }) }, "Clear");
    function set() {
        const [a, b, c, d] = inputs.map(({ valueAsNumber }) => (Number.isNaN(valueAsNumber) ? 0 : valueAsNumber));
        change({ box: { fpr: [Math.min(a, b), Math.max(a, b)], tpr: [Math.min(c, d), Math.max(c, d)] } });
    }
    function show(box) {
        const values = box ? [...box.fpr, ...box.tpr] : [0, 1, 0, 1];
        inputs.forEach((each, place) => (each.value = Number(values[place].toFixed(3))));
        clear.disabled = !box;
    }
    const found = element(
        "fieldset",
        { class: "controls box" },
        element("legend", {}, "Rectangle: the table shows the features in it"),
        element("span", {}, "fpr ", left, " to ", right),
        element("span", {}, "tpr ", bottom, " to ", top),
        clear,
    );
    return { element: found, show };
}

/** All about one feature: its test, its counts, its scores. */
function featurePanel(model, state, feature) {
    const test = model.test(model.point(state.metric, feature));
    const heading = state.chosen === null ? `Best in the plane by ${state.metric}` : "Chosen feature";
    return [
        element("div", { class: "quiet" }, heading),
        nameElement(model.names[feature], "h3"),
        ...(test
            ? [countsTable(model, state, model.testText(model.point(state.metric, feature)), test)]
            : [element("p", {}, "It does not vary, so it has no score.")]),
        scoresTable(model, state, feature),
        ...(model.data.details.some((detail) => detail.feature === feature)
            ? [element("a", { class: "screen-only", href: `#${cardId(feature)}` }, "Its distribution and shape curve")]
            : []),
    ];
}

function countsTable(model, state, text, { task, tp, fp }) {
    const { pos, neg } = model.tasks[task];
    const line = (label, inside, outside) =>
        element(
            "tr",
            {},
            element("th", { scope: "row" }, label),
            ...[inside, outside].map((number) => element("td", { class: "number" }, count(number))),
        );
    return element(
        "table",
        {},
        element("caption", {}, `Rows at its best test by ${state.metric}`),
        element(
            "thead",
            {},
            element(
                "tr",
                {},
                element("td"),
                element("th", { scope: "col", class: "number" }, cut(model.tasks[task].label, 16)),
                element("th", { scope: "col", class: "number" }, "other rows"),
            ),
        ),
        element("tbody", {}, line(`value ${text}`, tp, fp), line("otherwise", pos - tp, neg - fp)),
    );
}

function scoresTable(model, state, feature) {
    const lines = model.metrics.map((metric) => {
        const { order, place } = model.ranking(metric);
        const score = model.score(metric, feature);
        const rank = place[feature] < 0 ? NONE : count(place[feature] + 1);
        const share = place[feature] < 0 ? 0 : 1 - place[feature] / order.length;
        return element(
            "tr",
            { "aria-current": metric === state.metric ? "true" : null },
            element("th", { scope: "row" }, metric),
            element("td", { class: "number" }, decimal(score)),
            element("td", { class: "number" }, rank),
            element("td", { class: "bar" }, bar(share)),
        );
    });
    const head = element(
        "tr",
        {},
        ...["Metric", "Score", "Rank"].map((text, place) =>
            element("th", { scope: "col", class: place ? "number" : null }, text),
        ),
        element("td"),
    );
    return element(
        "table",
        { class: "bars scores" },
        element("caption", {}, `Scores, and ranks among ${count(model.size)} features`),
        element("thead", {}, head),
        element("tbody", {}, ...lines),
    );
}
