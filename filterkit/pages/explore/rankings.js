// What rankings have to do with each other: non-zeros against features kept, agreement, correlation.
"use strict";

const STEPS_KEPT = 90; // numbers of features at which the curves are drawn

function rankingsView(model, state) {
    const { agreement, correlation } = model.data;
    const parts = [
        model.metrics.some((metric) => model.ranking(metric).order.length > 1) ? nonzerosPart(model, state) : null,
        agreement.metrics.length > 1 ? agreementPart(model, state) : null,
        correlation.features.length > 1 ? correlationPart(model) : null,
    ].filter(Boolean);
    if (!parts.length) return null;
    const update = (changed) => parts.forEach((part) => part.update?.(changed));
    return { element: section("rankings", "Rankings", ...parts.map((part) => part.element)), update };
}

// ---- Non-zeros a row against features kept

function nonzerosPart(model, state) {
    const most = d3.max(model.metrics, (metric) => model.ranking(metric).order.length);
    const kept = cutStops(most, STEPS_KEPT);
    const sums = new Map(model.metrics.map((metric) => [metric, nonzeroSums(model, metric)]));
    const chart = element("div", { class: "chart" });
    const list = element("ol", { class: "ends", "aria-label": "Non-zeros a row by metric" });
    let scale = null;
    let rule = null;

    function draw() {
        const plot = nonzerosDrawing(model, kept, sums, Math.max(300, Math.min(chart.clientWidth || 640, 640)));
        scale = plot.scale("x");
        rule = d3
            .select(plot)
            .append("line")
            .attr("class", "cut")
            .attr("y1", 10)
            .attr("y2", plot.getAttribute("height") - 34);
        chart.replaceChildren(plot);
    }

    function mark() {
        const lines = d3.select(chart).selectAll("[aria-label=line]"); // one for each metric, as Plot names them
        lines.attr("stroke-width", (_, number) => (model.metrics[number] === state.metric ? 3.5 : 1.5));
        const x = scale.apply(Math.min(state.cut, most));
        rule.attr("x1", x).attr("x2", x);
        const at = (metric) => sums.get(metric)[Math.min(state.cut, sums.get(metric).length) - 1] ?? 0;
        const order = d3.sort(model.metrics, (metric) => -at(metric));
        list.replaceChildren(
            element("li", { class: "quiet" }, `with the best ${count(Math.min(state.cut, most))}`),
            ...order.map((metric) => {
                const number = model.metrics.indexOf(metric);
                return element(
                    "li",
                    { "aria-current": metric === state.metric ? "true" : null },
                    element("span", {}, swatch(colourOf(number), dashOf(number)), metric),
                    element("span", { class: "number" }, decimal(at(metric))),
                );
            }),
        );
    }

    function update(changed) {
        const anew = scale === null || changed.has("surface");
        if (anew) draw();
        if (anew || changed.has("metric") || changed.has("cut")) mark();
    }

    const caption =
        "Non-zeros a row, a mean over all rows, against the features kept, best first by each metric. " +
        "The chosen metric is bold; the upright line is at N.";
    return {
        element: element(
            "div",
            {},
            element("h3", {}, "Sparsity"),
            figure(element("div", { class: "with-ends" }, chart, list), caption),
        ),
        update,
    };
}

/** The mean non-zeros a row of the best 1, 2, … features by a metric. */
function nonzeroSums(model, metric) {
    const { nonzero } = model.data.features;
    const weight = model.data.overview.weight || 1;
    return d3.cumsum(model.ranking(metric).order, (feature) => nonzero[feature]).map((sum) => sum / weight);
}

function nonzerosDrawing(model, kept, sums, width) {
    const lines = model.metrics.map((metric, number) => {
        const points = kept
            .filter((each) => each <= sums.get(metric).length)
            .map((each) => [each, sums.get(metric)[each - 1]]);
        return Plot.line(points, {
            stroke: colourOf(number),
            strokeDasharray: dashOf(number),
            ariaLabel: () => metric,
        });
    });
    return Plot.plot({
        width,
        height: Math.round(120 + width / 3),
        marginLeft: 52,
        marginTop: 10,
        marginBottom: 34,
        x: {
            type: "log",
            label: "features kept →",
            labelAnchor: "right",
            tickFormat: (value) => (/^[125]0*$/.test(String(value)) ? count(value) : ""),
        },
        y: { label: null, grid: true, tickFormat: decimal },
        ariaLabel: "Non-zeros a row against features kept",
        marks: lines,
    });
}

// ---- Agreement and correlation

function agreementPart(model, state) {
    const { metrics, spearman } = model.data.agreement;
    const rho = heatMap({
        caption: "Spearman's ρ of the scores",
        rows: metrics,
        columns: metrics,
        value: (i, j) => spearman[i][j],
        text: coefficient,
    });
    const overlapText = () => `% of the best ${count(state.cut)} that both have`;
    const known = metrics.every((metric) => model.metrics.includes(metric));
    let shares = overlaps(model, metrics, state.cut);
    const overlap =
        known &&
        heatMap({
            caption: overlapText(),
            rows: metrics,
            columns: metrics,
            value: (i, j) => shares[i][j],
            text: (value) => (100 * value).toFixed(0),
        });
    function update(changed) {
        if (!overlap || !changed.has("cut")) return;
        shares = overlaps(model, metrics, state.cut);
        overlap.update(overlapText());
    }
    const found = element(
        "div",
        {},
        element("h3", {}, "Agreement of the metrics"),
        element("div", { class: "heats" }, rho.element, overlap ? overlap.element : null),
    );
    return { element: found, update };
}

function coefficient(value) {
    return value === null ? NONE : value.toFixed(2).replace(/^-0\.00$/, "0.00");
}

/** For each pair of metrics, the share of the best N by one that the other has among its best N, too. */
function overlaps(model, metrics, cut) {
    const rankings = metrics.map((metric) => model.ranking(metric));
    const shares = metrics.map(() => metrics.map(() => 1));
    rankings.forEach(({ order }, i) => {
        const size = Math.min(cut, order.length);
        for (let j = 0; j < i; j++) {
            const { place } = rankings[j];
            let both = 0;
            for (let rank = 0; rank < size; rank++) both += place[order[rank]] < size && place[order[rank]] >= 0;
            shares[i][j] = shares[j][i] = size ? both / size : 0;
        }
    });
    return shares;
}

function correlationPart(model) {
    const { features, r } = model.data.correlation;
    const names = features.map((feature) => model.names[feature]);
    const heat = heatMap({
        caption: `Pearson's r of ${counted(features.length, "feature")}: blue above zero, orange below`,
        rows: names,
        columns: names,
        value: (i, j) => r[i][j],
        text: coefficient,
        small: true,
    });
    return { element: element("div", {}, element("h3", {}, "Correlation"), heat.element) };
}
