// The best features one by one: their distribution by class, the shape curve, and what the chain makes of them.
"use strict";

const CARD_CLASSES = 6; // drawn of each distribution
const CARD_WIDTH = 360;

function cardsView(model, state) {
    const { details } = model.data;
    if (!details.length) return null;
    const cards = details.map((detail) => cardOf(model, detail));
    const byFeature = new Map(details.map(({ feature }, place) => [feature, cards[place]]));
    const by = model.metrics.length ? `best by ${model.metrics[0]}` : "first in the data";
    const found = section(
        "cards",
        model.metrics.length ? "Best features" : "First features",
        element("p", { class: "quiet" }, `The ${counted(details.length, "feature")} ${by}. ${cardsText(model)}`),
        element("div", { class: "cards" }, ...cards.map((card) => card.element)),
    );
    drawOneByOne(cards);

    function update(changed) {
        for (const [feature, card] of byFeature) card.element.toggleAttribute("data-chosen", feature === state.chosen);
        if (!changed.has("jump") || !state.jump) return;
        state.jump = false;
        const card = byFeature.get(state.chosen)?.element;
        card?.focus({ preventScroll: true });
        card?.scrollIntoView({ block: "center" });
    }

    return { element: found, update };
}

function cardsText({ tasks, data }) {
    if (!tasks.length) {
        const curve = data.overview.class ? " The curve shows the mean of the class of the rows with a value." : "";
        return `Bars show the share of the rows at a value.${curve}`;
    }
    const distribution = "Bars show which share of its rows each class has at a value.";
    const curve = "The shape curve estimates p(v), the share of the class among rows with the value v.";
    const dots = "Each dot stands for the rows up to its value, and is larger for more rows.";
    return `${distribution} The dashed line is the best threshold; the best label is in full colour. ${curve} ${dots}`;
}

/** Draws a card in each idle moment, so that the page answers meanwhile; before printing, all that are left. */
function drawOneByOne(cards) {
    const left = [...cards];
    const drawNext = () => {
        left.shift()?.draw();
        if (left.length) (globalThis.requestIdleCallback ?? setTimeout)(drawNext);
    };
    addEventListener("beforeprint", () => left.splice(0).forEach((card) => card.draw()));
    drawNext();
}

function cardId(feature) {
    return `card-${feature}`;
}

function cardOf(model, detail) {
    const { feature, before, curves, after } = detail;
    const metric = model.metrics[0];
    const test = metric ? model.test(model.point(metric, feature)) : null;
    const rank = metric ? `${count(model.ranking(metric).place[feature] + 1)}. ` : "";
    const body = element("div", { class: "drawings waiting" });
    const found = element(
        "article",
        { class: "card", id: cardId(feature), tabindex: -1 },
        element(
            "h3",
            {},
            rank,
            nameElement(model.names[feature]),
            element("a", { class: "screen-only", href: "#features" }, "table"),
        ),
        test ? element("p", { class: "quiet" }, cardFacts(model, metric, feature, test)) : null,
        body,
    );
    function draw() {
        const point = test ? model.point(metric, feature) : -1;
        const { threshold, label } = model.data.features.points;
        const domain = valuesOf(detail);
        // Of one column for each class, that of the best test comes first.
        const columns = d3.sort(after, ({ name }) => !(test && name.endsWith(`@${model.tasks[test.task].label}`)));
        body.classList.remove("waiting");
        body.replaceChildren(
            figure(
                histogramDrawing(model, before, { threshold: threshold[point], label: label[point], domain }),
                histogramText(model, after.length ? "As it comes in" : "Distribution", before),
            ),
            ...(curves.length ? [figure(curveDrawing(model, detail, domain), curveText(model, curves))] : []),
            ...columns.slice(0, 1).map((column) => afterFigure(model, column)),
            ...(columns.length > 1 ? [otherColumns(model, columns.slice(1))] : []),
        );
    }
    return { element: found, draw };
}

function afterFigure(model, { name, histogram }) {
    const caption = element("span", {}, "After the chain: ", nameElement(name), missingText(histogram));
    return figure(histogramDrawing(model, histogram), caption);
}

/** The other columns that the chain makes of a feature, drawn when they are unfolded. */
function otherColumns(model, columns) {
    const found = element(
        "details",
        {
            ontoggle: () => {
                if (found.querySelector("figure")) return;
                found.append(...columns.map((column) => afterFigure(model, column)));
            },
        },
        element("summary", {}, `${counted(columns.length, "more column")} after the chain`),
    );
    return found;
}

/** The least and the largest value of a numeric feature, so that its distribution and its curve have the same axis. */
function valuesOf({ before, curves }) {
    return d3.extent([...(before.edges ?? []), ...curves.flatMap(({ value }) => value)]);
}

function cardFacts(model, metric, feature, { task, tp, fp, tpr, fpr }) {
    const which = model.tasks.length > 1 ? ` for ${taskLabel(model, task)}` : "";
    const score = `${metric} ${decimal(model.score(metric, feature))}`;
    const counts = `tp ${count(tp)} (${percent(tpr)}), fp ${count(fp)} (${percent(fpr)})`;
    return `${score} at ${model.testText(model.point(metric, feature))}${which}: ${counts}`;
}

// ---- Distributions

function classTotal({ counts, zero, missing }, place) {
    return d3.sum(counts[place]) + (zero?.[place] ?? 0) + missing[place];
}

/** The classes that are drawn: the largest, in their order, but of two the positive one first. */
function drawnClasses({ tasks }, histogram) {
    const all = d3.range(histogram.classes.length);
    if (tasks.length === 1) return d3.sort(all, (place) => histogram.classes[place] !== tasks[0].label);
    const largest = new Set(d3.sort(all, (place) => -classTotal(histogram, place)).slice(0, CARD_CLASSES));
    return all.filter((place) => largest.has(place));
}

/** The distribution by class; a threshold is marked by a line, one of the labels by its colour. */
function histogramDrawing(model, histogram, { threshold = null, label = null, domain } = {}) {
    const classes = drawnClasses(model, histogram);
    const bars = histogram.labels ? labelBars(histogram, classes) : edgeBars(histogram, classes);
    const heads = classes.map((place) => ({ place, text: classHead(histogram, place) }));
    const nominal = Boolean(histogram.labels);
    const box = {
        fy: "place",
        y: "share",
        fill: ({ place }) => classColour(model, histogram.classes[place]),
        fillOpacity: (each) => (label === null || histogram.labels?.[each.label] === label ? 1 : 0.45),
    };
    return Plot.plot({
        width: CARD_WIDTH,
        height: 28 + classes.length * 46,
        marginLeft: 30, // as the curve
        marginRight: 8,
        marginTop: 2,
        marginBottom: 24,
        x: nominal
            ? {
                  label: null,
                  domain: histogram.labels.map((_, place) => place),
                  tickFormat: (place) => cut(histogram.labels[place], labelLength(histogram.labels)),
                  padding: 0.1,
              }
            : { label: null, ticks: 5, tickFormat: decimal, domain },
        y: { axis: null, domain: [0, 1.35 * (d3.max(bars, ({ share }) => share) || 1)] }, // with room for a text
        fy: { axis: null, domain: classes, padding: 0.04 },
        ariaLabel: histogram.classes.length > 1 ? "Distribution by class" : "Distribution",
        ariaDescription: heads.map(({ text }) => text).join("; "),
        marks: [
            nominal
                ? Plot.barY(bars, { ...box, x: "label" })
                : Plot.rectY(bars, { ...box, x1: "low", x2: "high", insetLeft: 0.5, insetRight: 0.5 }),
            Plot.ruleY(classes, { y: 0, fy: (place) => place, stroke: "var(--rule)" }),
            threshold === null ? null : Plot.ruleX([threshold], { stroke: "var(--ink)", strokeDasharray: "4 3" }),
            Plot.text(heads, {
                fy: "place",
                text: "text",
                frameAnchor: "top-right",
                fill: "var(--ink)",
                stroke: "var(--ground)",
                strokeWidth: 3,
                fontSize: 11,
            }),
        ],
    });
}

/** How many characters of each label have room below the axis. */
function labelLength(labels) {
    return Math.max(2, Math.floor(50 / labels.length));
}

function edgeBars({ edges, counts, ...rest }, classes) {
    return classes.flatMap((place) => {
        const total = classTotal({ counts, ...rest }, place) || 1;
        return counts[place].map((rows, bin) => ({
            place,
            low: edges[bin],
            high: edges[bin + 1],
            share: rows / total,
        }));
    });
}

function labelBars({ counts, ...rest }, classes) {
    return classes.flatMap((place) => {
        const total = classTotal({ counts, ...rest }, place) || 1;
        return counts[place].map((rows, label) => ({ place, label, share: rows / total }));
    });
}

/** The class, its rows, and how many of them are not zero where zeros are not drawn. */
function classHead(histogram, place) {
    const total = classTotal(histogram, place);
    const name =
        histogram.classes[place] === "" && histogram.classes.length === 1 ? "all" : cut(histogram.classes[place], 20);
    const nonzero = histogram.zero ? `, ${percent(total ? d3.sum(histogram.counts[place]) / total : 0)} non-zero` : "";
    return `${name}: ${counted(total, "row")}${nonzero}`;
}

function histogramText(model, what, histogram) {
    const zeros = histogram.zero ? "; zeros are not drawn" : "";
    const hidden = histogram.classes.length - drawnClasses(model, histogram).length;
    const more = hidden ? `; ${counted(hidden, "smaller class", "smaller classes")} left out` : "";
    return `${what}${zeros}${more}${missingText(histogram)}`;
}

function missingText({ missing }) {
    const rows = d3.sum(missing);
    return rows ? `; missing in ${counted(rows, "row")}` : "";
}

// ---- Shape curves

const CURVE_DOTS = 60; // at most, on each curve

/** The points of a curve; zero stands apart where the distribution counts it apart. */
function curvePoints({ task, value, p, rows }, before) {
    return value.map((each, place) => ({
        task,
        value: each,
        p: p[place],
        rows: rows[place],
        apart: Boolean(before.zero) && each === 0,
    }));
}

/** Some of the points of a curve, evenly chosen; each has the rows of those before it that are left out. */
function thinnedPoints(points) {
    const step = Math.ceil(points.length / CURVE_DOTS);
    const kept = points.filter(({ apart }, place) => apart || place % step === 0 || place === points.length - 1);
    const before = d3.cumsum(points, ({ rows }) => rows);
    let done = 0;
    return kept.map((point) => {
        const all = before[points.indexOf(point)];
        const rows = point.apart ? point.rows : all - done;
        done = all;
        return { ...point, rows };
    });
}

/** What the curves show, in symbols. */
function curveName([{ what }]) {
    return what ?? "p(v)";
}

function curveDrawing(model, { curves, before }, domain) {
    const points = curves.map((curve) => curvePoints(curve, before));
    const { labels } = before;
    const stroke = ({ task }) => classColour(model, model.tasks[task]?.label);
    const label = (value) => cut(typeof value === "number" ? labels[value] : value, labelLength(labels));
    const title = ({ value, p, rows }) =>
        [labels ? label(value) : `v ${decimal(value)}`, decimal(p), counted(rows, "row")].join("\n");
    const most = d3.max(curves, ({ rows }) => d3.max(rows)) || 1;
    const radius = ({ rows }) => 1.5 + (curves.length > 1 ? 3 : 5.5) * Math.sqrt(Math.min(1, rows / most));
    const line = points.flat().filter(({ apart }) => !apart);
    return Plot.plot({
        width: CARD_WIDTH,
        height: 150,
        marginLeft: 30,
        marginRight: 8,
        marginTop: 8,
        marginBottom: 24,
        x: labels
            ? { type: "point", label: null, tickFormat: label }
            : { label: null, ticks: 5, tickFormat: decimal, domain },
        y: { domain: isShare(curves) ? [0, 1] : undefined, label: null, ticks: 4, grid: true, tickFormat: model.tasks.length ? undefined : "~s" },
        r: { type: "identity" },
        ariaLabel: model.tasks.length ? "Shape curve" : "Mean of the class",
        ariaDescription: curveText(model, curves),
        marks: [
            curveReference(model, curves, stroke),
            labels ? null : Plot.line(line, { x: "value", y: "p", z: "task", stroke }),
            Plot.dot(points.flatMap(thinnedPoints), {
                x: "value",
                y: "p",
                r: radius,
                fill: stroke,
                fillOpacity: 0.35,
                stroke,
                title,
                tip: true,
            }),
        ],
    });
}

/** Whether the curves show shares of a class, and not something made of them. */
function isShare(curves) {
    return curveName(curves) === "p(v)";
}

/** Where a value says nothing about the class: at the share of the class, at the mean of a numeric one, or at zero. */
function curveReference(model, curves, stroke) {
    const level = model.tasks.length ? 0 : model.data.overview.class.mean;
    if (!isShare(curves)) return Plot.ruleY([level], { stroke: "var(--quiet)", strokeDasharray: "3 3" });
    const shares = curves.map(({ task }) => {
        const { pos, neg } = model.tasks[task];
        return { task, p: pos / (pos + neg) };
    });
    return Plot.ruleY(shares, { y: "p", stroke, strokeDasharray: "3 3", strokeOpacity: 0.8 });
}

function curveText(model, curves) {
    if (!model.tasks.length) return "Mean of the class; dashed: of all rows";
    const labels = curves.map(({ task }) => taskLabel(model, task)).join(", ");
    const by = curves[0].stage ? ` by ${visible(curves[0].stage)}` : "";
    const dashed = isShare(curves) ? "the share of the class" : "zero";
    return `Shape curve: ${visible(curveName(curves))} of ${labels}${by}; dashed: ${dashed}`;
}
