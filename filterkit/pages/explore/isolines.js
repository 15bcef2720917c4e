// The isolines of the ROC plane: curves on which the chosen metric has the same score.
"use strict";

const ISOLINES = 7; // thin ones

/** The scores of the plane for the metric and the class, or null: {rates, values}. */
function gridOf(model, { metric, task }) {
    const values = model.data.isolines[metric]?.[task ?? 0];
    if (!values || (task === null && model.tasks.length > 1)) return null;
    return { rates: model.data.rates, values: values.map((value) => value ?? NaN) };
}

function drawIsolines(layer, view) {
    layer.selectAll("*").remove();
    if (view.grid) for (const level of levelsOf(view)) drawLine(layer, view, level, decimal(level));
}

/** Rounded scores that divide the part of the plane in view into parts of about equal size. */
function levelsOf({ grid: { rates, values }, x, y }) {
    const inView = values.filter((value, place) => {
        const [fpr, tpr] = [rates[place % rates.length], rates[Math.floor(place / rates.length)]];
        return !Number.isNaN(value) && fpr <= x.domain()[1] && tpr <= y.domain()[1];
    });
    const sorted = d3.sort(inView);
    const levels = d3
        .range(1, ISOLINES + 1)
        .map((part) => Number(d3.quantileSorted(sorted, part / (ISOLINES + 1))?.toPrecision(2)));
    return [...new Set(levels)].filter((level) => level > sorted[0] && level < sorted.at(-1));
}

/** Draws the line of a score, with a text where it comes nearest to the other diagonal: the place of the text. */
function drawLine(layer, { grid, x, y, size: width }, level, text) {
    const size = grid.rates.length;
    const { coordinates } = d3.contours().size([size, size]).contour(grid.values, level);
    const rate = d3.scaleLinear(d3.range(size), grid.rates);
    const toPixel = ([column, row]) => [x(rate(column - 0.5)), y(rate(row - 0.5))];
    const rings = coordinates.flat().map((ring) => ring.map(toPixel));
    layer
        .append("path")
        .attr("d", rings.map((ring) => `${d3.line()(ring)}Z`).join(""))
        .attr("clip-path", "url(#plane-clip)");
    const inside = rings
        .flat()
        .filter(
            ([left, top]) =>
                left > x.range()[0] + 4 && left < x.range()[1] - 4 && top > y.range()[1] + 4 && top < y.range()[0] - 4,
        );
    const middle = ([left, top]) => Math.abs(left / width - top / width) + (left > width / 2 ? 0.2 : 0);
    const anchor = d3.least(inside, middle);
    if (anchor)
        layer
            .append("text")
            .attr("x", anchor[0])
            .attr("y", anchor[1])
            .attr("dy", "0.32em")
            .attr("text-anchor", "middle")
            .text(text);
    return anchor;
}

/** Hides the texts of the thin lines that the text of the bold line would cover. */
function hideNear(layer, anchor) {
    const covers = ([left, top], text) =>
        Math.abs(text.getAttribute("x") - left) < 70 && Math.abs(text.getAttribute("y") - top) < 13;
    layer.selectAll("text").style("display", function () {
        return anchor && covers(anchor, this) ? "none" : null;
    });
}
