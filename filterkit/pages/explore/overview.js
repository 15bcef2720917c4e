// The head of the page: what was read, its class, what to beware of.
"use strict";

function headView({ data }) {
    const { made, file, relation, chain } = data;
    const facts = [
        ["Relation", nameElement(relation)],
        ["Chain", chain ? element("code", {}, visible(chain)) : "none: the data as it is"],
        ["Made by", element("span", {}, visible(made.program), ": ", element("code", {}, visible(made.command)))],
    ];
    return element("header", {}, nameElement(file, "h1"), factList(facts));
}

function factList(facts) {
    return element(
        "dl",
        { class: "facts" },
        ...facts.map(([term, text]) => element("div", {}, element("dt", {}, term), element("dd", {}, text))),
    );
}

function overviewView(model) {
    const { data } = model;
    const { overview, features, warnings, notes } = data;
    return section(
        "overview",
        "Overview",
        element(
            "div",
            { class: "columns" },
            element(
                "div",
                {},
                element("dl", { class: "tiles" }, ...tiles(overview, features.total)),
                ...messages(warnings, notes),
            ),
            classPart(model, overview.class),
        ),
    );
}

function classPart(model, found) {
    if (found?.labels.length) return classTable(model, found);
    if (found?.edges) return classNumbers(found);
    const text = found ? `The class attribute is ${found.kind}` : "There is no class attribute";
    const scored = model.metrics.length ? "." : ", so features are not scored.";
    return element("p", { class: "quiet" }, `${text}${scored}`);
}

/** The distribution of a numeric class. */
function classNumbers({ name, mean, deviation, quantiles, edges, counts, missing }) {
    const bars = counts.map((rows, bin) => ({ rows, low: edges[bin], high: edges[bin + 1] }));
    const [least, lower, median, upper, largest] = quantiles.map(decimal);
    const facts = [
        ["Mean", decimal(mean)],
        ["Deviation", decimal(deviation)],
        ["Median", `${median} (quartiles ${lower} and ${upper})`],
        ["Range", `${least} to ${largest}`],
        ...(missing ? [["Missing", counted(missing, "row")]] : []),
    ];
    const drawing = Plot.plot({
        width: CARD_WIDTH,
        height: 120,
        marginLeft: 30,
        marginRight: 8,
        marginTop: 6,
        x: { label: null, ticks: 5, tickFormat: decimal },
        y: { axis: null },
        ariaLabel: "Distribution of the class",
        marks: [
            Plot.rectY(bars, { x1: "low", x2: "high", y: "rows", fill: colourOf(0), insetLeft: 0.5, insetRight: 0.5 }),
            Plot.ruleX([mean], { stroke: "var(--ink)", strokeDasharray: "4 3" }),
        ],
    });
    const text = element("span", {}, "Class attribute ", nameElement(name), "; dashed: the mean");
    return element("div", {}, figure(drawing, text), factList(facts));
}

function tiles(overview, total) {
    const weighted = overview.weight !== overview.rows;
    const kinds = Object.entries(overview.kinds).map(([kind, number]) => `${count(number)} ${kind}`);
    const cells = overview.rows * d3.sum(Object.values(overview.kinds));
    return [
        tile("Rows", count(overview.rows), weighted ? `weighing ${count(overview.weight)}` : ""),
        tile("Features", count(total), `attributes: ${kinds.join(", ")}`),
        tile("Zeros", percent(overview.zeros), overview.sparse ? "sparse rows" : "dense rows"),
        tile("Missing", count(overview.missing), cells ? `${percent(overview.missing / cells)} of all cells` : ""),
        ...(overview.class?.labels.length ? [skewTile(overview.class.rows)] : []),
    ];
}

function tile(term, number, remark) {
    return element(
        "div",
        {},
        element("dt", {}, term),
        element("dd", {}, number),
        element("dd", { class: "quiet" }, remark),
    );
}

function skewTile(rows) {
    const used = rows.filter((each) => each > 0);
    const skew = used.length ? d3.max(used) / d3.min(used) : null;
    return tile("Skew", skew === null ? NONE : `1 : ${Number(skew.toPrecision(2))}`, "smallest to largest class");
}

/** The classes with their sizes as bars; of many classes the smaller ones are folded away. */
function classTable(model, { name, labels, rows, missing }) {
    const SHOWN = 10;
    const total = d3.sum(rows);
    const largest = d3.max(rows) || 1;
    const order = d3.sort(d3.range(labels.length), (each) => -rows[each]);
    const line = (each) =>
        element(
            "tr",
            {},
            element("th", { scope: "row" }, nameElement(labels[each])),
            element("td", { class: "number" }, count(rows[each])),
            element("td", { class: "number" }, percent(total ? rows[each] / total : 0)),
            element("td", { class: "bar" }, bar(rows[each] / largest, classColour(model, labels[each]))),
        );
    const head = element(
        "thead",
        {},
        element(
            "tr",
            {},
            ...["Class", "Rows", "Share"].map((text, place) =>
                element("th", { scope: "col", class: place ? "number" : null }, text),
            ),
            element("td"),
        ),
    );
    const table = (chosen, ...caption) =>
        element(
            "table",
            { class: "bars" },
            ...caption,
            head.cloneNode(true),
            element("tbody", {}, ...chosen.map(line)),
        );
    const caption = element(
        "caption",
        {},
        "Class attribute ",
        nameElement(name),
        missing ? `; missing in ${counted(missing, "row")}` : "",
    );
    const more = order.slice(SHOWN);
    const folded = more.length
        ? element("details", {}, element("summary", {}, `${count(more.length)} smaller classes`), table(more))
        : null;
    return element("div", {}, table(order.slice(0, SHOWN), caption), folded);
}

function bar(share, colour = "var(--colour-0)") {
    return element("span", { class: "fill", style: `width: ${(100 * share).toFixed(2)}%; background: ${colour}` });
}

function messages(warnings, notes) {
    const SHOWN = 4;
    const list = (some, label) => element("ul", { class: "warnings", "aria-label": label }, ...some.map(warningItem));
    const more = warnings.slice(SHOWN);
    return [
        warnings.length ? list(warnings.slice(0, SHOWN), "Warnings") : null,
        more.length
            ? element(
                  "details",
                  {},
                  element("summary", {}, counted(more.length, "more warning")),
                  list(more, "More warnings"),
              )
            : null,
        notes.length
            ? element(
                  "ul",
                  { class: "notes quiet", "aria-label": "Notes" },
                  ...notes.map((note) => element("li", {}, visible(note))),
              )
            : null,
    ].filter(Boolean);
}

/** A warning with the first names of its attributes; the others are folded away. */
function warningItem({ kind, text, attributes }) {
    const SHOWN = 6;
    const list = (names) => names.flatMap((name, place) => [place ? ", " : " ", nameElement(name)]);
    const more = attributes.slice(SHOWN);
    const folded = more.length
        ? element("details", {}, element("summary", {}, counted(more.length, "more attribute")), ...list(more))
        : null;
    const shown = text.endsWith(":") || folded ? list(attributes.slice(0, SHOWN)) : [];
    return element("li", { class: "warning" }, element("b", {}, visible(kind)), " ", visible(text), ...shown, folded);
}
