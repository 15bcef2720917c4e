// Learning curves, or means with their errors.
"use strict";

const MOST_BARS = 8; // chains whose errors are drawn; those of more would hide each other
const REACH = 30; // pixels from a mark within which the pointer shows its numbers

function showCurves(report) {
    const { data } = report;
    const isCurve = data.shares.length > 1;
    const caption = element("figcaption");
    const frame = element("div", { class: "drawing" });
    const draw = () => {
        if (!frame.clientWidth) return;
        frame.replaceChildren(isCurve ? drawCurves(report, frame.clientWidth) : drawMeans(report, frame.clientWidth));
        const bars = hasBars(data) ? ` Bars show one standard error of the mean over ${data.units} ${data.over}.` : "";
        const axis = isCurve ? `${report.measure.title} against the share of all rows trained on` : report.about();
        const hint = " Point at a mark, or walk with the arrow keys, to see its numbers.";
        caption.replaceChildren(`${sentence(axis)}.${bars}`, element("span", { class: "screen-only" }, hint));
    };
    new ResizeObserver(onNextFrame(draw)).observe(frame);
    const heading = isCurve ? "Learning curves" : "Means with their errors";
    return { element: section("curves", heading, element("figure", {}, frame, caption)), update: draw };
}

/** The points of all chains that have a value: [{chain, share, mean, error}]. */
function pointsOf(report) {
    const { chains, shares } = report.data;
    const all = d3.cross(d3.range(chains.length), d3.range(shares.length), (chain, share) => ({
        chain,
        share,
        mean: report.mean(chain, share),
        error: report.error(chain, share) ?? 0,
    }));
    return all.filter((point) => point.mean !== null);
}

const low = ({ mean, error }) => mean - error;
const high = ({ mean, error }) => mean + error;

/** Whether errors are drawn. */
function hasBars({ units, shares, chains }) {
    return units > 1 && (shares.length === 1 || chains.length <= MOST_BARS);
}

function drawCurves(report, width) {
    const { data } = report;
    const points = pointsOf(report);
    const longest = Math.min(
        d3.max(data.chains, (name) => name.length),
        width < 600 ? 14 : 30,
    );
    // A logarithmic axis, where that spaces the shares more evenly; Plot's own would leave some numbers out.
    const isLog = evenness(data.shares.map(Math.log)) < 0.9 * evenness(data.shares);
    const place = isLog ? Math.log : (share) => share;
    const x = (point) => place(data.shares[point.share]);
    const marks = data.chains.flatMap((_, chain) => {
        const own = points.filter((point) => point.chain === chain);
        const stroke = colourOf(chain);
        return [
            hasBars(data) ? Plot.ruleX(own, { x, y1: low, y2: high, stroke, strokeOpacity: 0.5 }) : null,
            Plot.line(own, { x, y: "mean", stroke, strokeWidth: 1.75, strokeDasharray: dashOf(chain) }),
            Plot.dot(own, { x, y: "mean", fill: stroke, r: 3.5 }),
        ];
    });
    const chart = Plot.plot({
        width,
        height: Math.max(width < 600 ? 280 : 400, 16 * data.chains.length + 70),
        marginRight: 7 * longest + 24,
        marginLeft: 48,
        marginBottom: 40,
        ariaLabel: `Learning curves: ${report.measure.title}`,
        x: {
            label: "share of all rows trained on",
            labelArrow: "none",
            ticks: sparse(data.shares.map(place), width < 600 ? 4 : 9),
            tickFormat: (at) => shareText(isLog ? Math.exp(at) : at),
        },
        y: { grid: true, label: null, nice: true, zero: false },
        marks,
    });
    labelEnds(chart, data.chains, points, x, longest);
    makeReadable(chart, report, points);
    return chart;
}

function drawMeans(report, width) {
    const { data } = report;
    const points = pointsOf(report);
    const longest = Math.min(
        d3.max(data.chains, (name) => name.length),
        width < 600 ? 16 : 40,
    );
    const y = (point) => point.chain;
    const chart = Plot.plot({
        width,
        height: 24 * data.chains.length + 66,
        marginBottom: 46,
        marginLeft: 7 * longest + 12,
        marginRight: 20,
        ariaLabel: `Means: ${report.measure.title}`,
        x: { grid: true, label: report.measure.title, labelArrow: "none", nice: true, ticks: Math.min(8, width / 90) },
        y: {
            domain: d3.range(data.chains.length),
            label: null,
            tickFormat: (chain) => cut(data.chains[chain], longest),
            tickSize: 0,
        },
        marks: [
            Plot.ruleY(points, { y, x1: low, x2: high, stroke: colourOf(0), strokeWidth: 2 }),
            Plot.dot(points, { y, x: "mean", fill: colourOf(0), r: 4.5 }),
        ],
    });
    makeReadable(chart, report, points);
    return chart;
}

/** How much the distances of ascending numbers differ, as a share of their mean. */
function evenness(numbers) {
    const apart = d3.pairs(numbers, (a, b) => b - a);
    return (d3.deviation(apart) ?? 0) / d3.mean(apart);
}

/** Those of ascending places that have room for a number, the last one always. */
function sparse(places, most) {
    const room = (places.at(-1) - places[0]) / most;
    const kept = [];
    for (const place of places.toReversed()) {
        if (!kept.length || kept.at(-1) - place >= room) kept.push(place);
    }
    return kept;
}

/** Writes names at the ends of lines, in their colours, so that none covers another. */
function labelEnds(chart, names, points, x, longest) {
    const at = (name, value) => chart.scale(name).apply(value);
    const ends = d3
        .rollups(
            points,
            (own) => own.at(-1),
            (point) => point.chain,
        )
        .map(([, end]) => end);
    ends.sort((a, b) => at("y", a.mean) - at("y", b.mean));
    const [low, high] = chart.scale("y").range.toSorted((a, b) => a - b);
    const places = spread(
        ends.map((end) => at("y", end.mean)),
        14,
        low - 8,
        high,
    );
    const right = d3.max(ends, (end) => at("x", x(end)));
    const labels = d3.select(chart).append("g").attr("class", "ends");
    ends.forEach((end, i) => {
        const from = [at("x", x(end)) + 5, at("y", end.mean)];
        const line = d3.line()([from, [right + 16, places[i]]]);
        labels.append("path").attr("d", line).style("stroke", colourOf(end.chain));
        labels
            .append("text")
            .attr("text-anchor", "start")
            .attr("x", right + 19)
            .attr("y", places[i])
            .attr("dy", "0.32em")
            .style("fill", colourOf(end.chain))
            .text(cut(names[end.chain], longest))
            .append("title")
            .text(visible(names[end.chain]));
    });
}

/** Ascending places moved as little as possible so that they are `space` apart, between `low` and `high`. */
function spread(places, space, low, high) {
    const pools = []; // runs of places that touch each other: [mean of place − space below, count]
    places.forEach((place, i) => {
        pools.push([place - i * space, 1]);
        while (pools.length > 1 && pools.at(-2)[0] > pools.at(-1)[0]) {
            const [[a, m], [b, n]] = pools.splice(-2);
            pools.push([(a * m + b * n) / (m + n), m + n]);
        }
    });
    const top = Math.max(low, high - (places.length - 1) * space);
    const moved = pools.flatMap(([mean, count]) => Array(count).fill(Math.min(Math.max(mean, low), top)));
    return moved.map((place, i) => place + i * space);
}

/** Shows the numbers of the mark that is nearest to the pointer, or that the arrow keys are at. */
function makeReadable(chart, report, points) {
    const { chains, shares } = report.data;
    const marks = [...chart.querySelectorAll("circle")]; // in the order of the points
    let places = []; // of the marks in the window
    let near = -1; // the number of the mark that is shown
    const text = ({ chain, share, mean, error }) => {
        const trained = shares.length > 1 ? `trained on ${shareText(shares[share])}: ` : "";
        return [element("strong", {}, cut(chains[chain], 60)), element("br"), `${trained}${meanText(mean, error)}`];
    };
    const show = (next) => {
        marks[near]?.classList.remove("near");
        near = next;
        if (next < 0) return tooltip.hide();
        marks[next].classList.add("near");
        return tooltip.showAt(marks[next], ...text(points[next]));
    };
    const measure = () => {
        places = marks
            .map((mark) => mark.getBoundingClientRect())
            .map(({ x, y, width }) => [x + width / 2, y + width / 2]);
    };
    const nearest = onNextFrame(({ clientX, clientY }) => {
        const distances = places.map(([x, y]) => Math.hypot(x - clientX, y - clientY));
        const next = d3.minIndex(distances);
        show(distances[next] <= REACH ? next : -1);
    });
    chart.addEventListener("pointerenter", measure);
    chart.addEventListener("pointermove", nearest);
    chart.addEventListener("pointerdown", (event) => (measure(), nearest(event)));
    chart.addEventListener("pointerleave", () => requestAnimationFrame(() => show(-1)));
    chart.addEventListener("blur", () => show(-1));
    chart.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: shares.length, ArrowUp: -shares.length }[event.key];
        if (!step || !marks.length) return;
        event.preventDefault();
        show(near < 0 ? 0 : Math.max(0, Math.min(marks.length - 1, near + step)));
        announce(document.getElementById("tooltip").textContent);
    });
    chart.setAttribute("tabindex", 0);
    chart.setAttribute("role", "img");
}
