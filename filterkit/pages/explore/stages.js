// What each stage of the chain did.
"use strict";

function stagesView({ data }) {
    const { stages } = data;
    if (stages.length < 2) return null; // the input alone
    const columns = [
        { key: "columns", label: "Columns", format: count },
        { key: "rows", label: "Rows", format: count },
        { key: "nonzero", label: "Non-zeros", format: count },
        { key: "missing", label: "Missing", format: count },
        { key: "seconds", label: "Seconds to fit", format: decimal },
    ];
    const most = Object.fromEntries(columns.map(({ key }) => [key, d3.max(stages, (stage) => stage[key]) || 1]));
    const line = (stage, place) =>
        element(
            "tr",
            {},
            element(
                "th",
                { scope: "row" },
                place === 0 && stage.words === "" ? "input" : nameElement(stage.words, "code"),
            ),
            ...columns.map(({ key, format }) =>
                element("td", { class: "number" }, format(stage[key]), bar((stage[key] ?? 0) / most[key])),
            ),
        );
    const head = element(
        "tr",
        {},
        element("th", { scope: "col" }, "After"),
        ...columns.map(({ label }) => element("th", { scope: "col", class: "number" }, label)),
    );
    const table = element(
        "table",
        { class: "stages" },
        element("caption", {}, "What came out of each stage; the bars compare the stages."),
        element("thead", {}, head),
        element("tbody", {}, ...stages.map(line)),
    );
    return {
        element: section("stages", "Stages of the chain", element("div", { class: "scroller" }, table)),
        update: () => {},
    };
}
