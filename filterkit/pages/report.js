// The page of `filterkit report`.
//
// What readData() gives; numbers that are undefined are null.
//
// title: text
// made: {program, command, facts: [[name, text]]}
// notes: [text]                                what was left out, as whole sentences
// chains: [C names], shares: [S numbers]       of all rows that were trained on, ascending
// rows: [[data, task]] or [["fold 1", ""]]     R rows of the table of tasks; with a single task its folds
// over: "tasks" | "folds", units: number       what means and tests are over; R may be less
// shown: [name]                                measures of the first table; the first is chosen at the start
// measures: [{name, title, loss}]              of a loss, smaller values are better
// summary: {MEASURE: [C][S][mean, standard error]}
// values: {MEASURE: [R][C][S]}
// ranks: {MEASURE: [S] of {tasks, mean: [C], limit, p, groups: [[chain]]} | null}    groups: not told apart
// wins: {MEASURE: [S] of [[C][C] wins of a row's chain, [C][C] ties]}
// tests: {MEASURE: [S] of [[first, second, second minus first, p]]}     chains by number; p is adjusted
// unpaired: boolean                            whether chains were measured on different splits
// confusions: [{task, chain, share, names: [N], cells: [[true, predicted, weight]]}]   chain and share by number
"use strict";

const MOST_CLASSES = 40; // of a heat map; with more, the most frequent errors are listed
const MOST_ERRORS = 100;
const MOST_BARS = 8; // chains whose errors are drawn; those of more would hide each other
const REACH = 30; // pixels from a mark within which the pointer shows its numbers
const LINES = 25; // of the table of tasks that are in view

startPage((data, page) => {
    const state = { measure: data.shown[0], share: data.shares.length - 1 };
    const report = new Report(data, state);
    const views = [showMeans, showCurves, showRanks, showPairs, showTests, showTasks, showConfusion];
    const shown = views.map((view) => view(report)).filter((view) => view !== null);
    const change = (next) => {
        Object.assign(state, next);
        shown.forEach((view) => view.update());
        announce(report.about());
    };
    page.append(head(data), controls(report, change), ...shown.map((view) => view.element));
    shown.forEach((view) => view.update());
});

/** The data, and what is chosen of it. */
class Report {
    constructor(data, state) {
        Object.assign(this, { data, state });
        this.measures = new Map(data.measures.map((measure) => [measure.name, measure]));
    }

    get measure() {
        return this.measures.get(this.state.measure);
    }

    /** What belongs to the chosen measure and share in data.ranks, data.wins or data.tests. */
    chosen(name) {
        return this.data[name][this.state.measure][this.state.share];
    }

    mean(chain, share = this.state.share, measure = this.state.measure) {
        return this.data.summary[measure][chain][share][0];
    }

    error(chain, share = this.state.share, measure = this.state.measure) {
        return this.data.summary[measure][chain][share][1];
    }

    /** The numbers of the best values of a measure, which may be several or, if none is known, none. */
    best(values, measure = this.state.measure) {
        const known = values.filter((value) => value !== null);
        const best = this.measures.get(measure).loss ? d3.min(known) : d3.max(known);
        return new Set(d3.range(values.length).filter((i) => values[i] !== null && values[i] === best));
    }

    /** The chosen measure and share as a text. */
    about() {
        const trained =
            this.data.shares.length > 1 ? `, trained on ${shareText(this.data.shares[this.state.share])}` : "";
        return `${this.measure.title}${this.measure.loss ? " (smaller is better)" : ""}${trained}`;
    }
}

function shareText(share) {
    return `${+(share * 100).toPrecision(3)} %`;
}

/** The rem that a column of names needs, within limits. */
function widthOf(names) {
    return Math.max(6, Math.min(16, 0.55 * d3.max(names, (name) => name.length) + 1.5));
}

/** A text with a capital letter at its beginning. */
function sentence(text) {
    return `${text[0].toUpperCase()}${text.slice(1)}`;
}

function meanText(mean, error) {
    return mean === null ? NONE : `${mean.toFixed(3)}${error === null ? "" : ` ± ${error.toFixed(3)}`}`;
}

// ---- Head

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

/**
 * A sortable table whose values change with the chosen measure and share, while its order goes on to be by the same
 * column. `columns` makes them anew; otherwise as sortableTable.
 */
function liveTable(report, { columns, sort, ...others }) {
    let base = sort;
    const suffix = () => `|${report.state.measure}|${report.state.share}`; // a key always stands for the same values
    const keyed = () => columns().map((column) => ({ ...column, key: column.key + suffix() }));
    const order = () => ({ ...base, key: base.key + suffix() });
    const onSort = ({ key, descending }) => (base = { key: key.split("|")[0], descending });
    const table = sortableTable({ ...others, columns: keyed(), sort: order(), onSort });
    return { element: table.element, update: () => table.setColumns(keyed(), order()) };
}

// ---- Means

function showMeans(report) {
    const { data, state } = report;
    const chain = {
        key: "chain",
        label: "chain",
        width: widthOf(data.chains),
        text: true,
        value: (row) => data.chains[row],
        cell: (row) => nameElement(data.chains[row]),
    };
    const columns = () => {
        const names = data.shown.includes(state.measure) ? data.shown : [...data.shown, state.measure];
        return [chain, ...names.map(measureColumn)];
    };
    const measureColumn = (name) => {
        const { title, loss } = report.measures.get(name);
        const best = report.best(
            data.chains.map((_, row) => report.mean(row, state.share, name)),
            name,
        );
        return {
            key: name,
            label: title,
            width: Math.max(9, title.length * 0.58 + 1.5),
            ascending: loss,
            value: (row) => report.mean(row, state.share, name),
            cell: (row) => {
                const text = meanText(report.mean(row, state.share, name), report.error(row, state.share, name));
                return best.has(row) ? element("strong", { class: "best", title: "best" }, text) : text;
            },
        };
    };
    const caption = element("p", { class: "quiet" });
    const sort = { key: state.measure, descending: !report.measure.loss };
    const table = liveTable(report, { caption: "Means of the chains", rows: data.chains.length, columns, sort });
    const update = () => {
        const trained = data.shares.length > 1 ? `, trained on ${shareText(data.shares[state.share])} of all rows` : "";
        const over =
            data.units > 1 ? `Means over ${data.units} ${data.over} ± standard error` : "Values on the test set";
        const hint = element("span", { class: "screen-only" }, " Click on a head to sort.");
        caption.replaceChildren(`${over}${trained}. The best of each measure is bold.`, hint);
        table.update();
    };
    return { element: section("means", "Means", caption, table.element), update };
}

// ---- Learning curves

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

// ---- Ranks

function showRanks(report) {
    const { data } = report;
    if (!Object.values(data.ranks).some((each) => each.some((ranks) => ranks !== null))) return null;
    const caption = element("figcaption");
    const frame = element("div", { class: "drawing" });
    const draw = () => {
        const ranks = report.chosen("ranks");
        if (!frame.clientWidth) return;
        if (ranks === null) {
            frame.replaceChildren();
            caption.textContent = "Too few tasks have a value of this measure for ranks.";
            return;
        }
        frame.replaceChildren(drawRanks(report, ranks, Math.min(frame.clientWidth, 900)));
        caption.textContent =
            `Mean ranks over ${ranks.tasks} tasks by ${report.about()}; 1 is the best. A bar joins chains that ` +
            `Nemenyi's test does not tell apart at the level 0.05: their ranks differ by less than ` +
            `${ranks.limit.toFixed(2)}. Friedman's test that all chains are equal: ` +
            `p ${ranks.p < 0.0001 ? "" : "= "}${pText(ranks.p)}.`;
    };
    new ResizeObserver(onNextFrame(draw)).observe(frame);
    return { element: section("ranks", "Ranks", element("figure", {}, frame, caption)), update: draw };
}

function pText(p) {
    return p === null ? NONE : p < 0.0001 ? "<0.0001" : `${+p.toPrecision(2)}`; // as in a table
}

/** The diagram of critical differences (Demšar 2006, Figure 1). */
function drawRanks({ data }, ranks, width) {
    const order = d3.sort(d3.range(data.chains.length), (chain) => ranks.mean[chain]);
    const longest = Math.min(
        d3.max(data.chains, (name) => name.length),
        width < 600 ? 12 : 30,
    );
    const margin = 7 * (longest + 5) + 12;
    const rows = Math.ceil(order.length / 2);
    const [axis, step] = [58, 18];
    const first = axis + 14 + 7 * ranks.groups.length;
    const height = first + rows * step + 8;
    const svg = d3
        .create("svg")
        .attr("viewBox", [0, 0, width, height])
        .attr("width", width)
        .attr("height", height)
        .attr("class", "ranks")
        .attr("role", "img")
        .attr(
            "aria-label",
            order.map((chain) => `${visible(data.chains[chain])} ${ranks.mean[chain].toFixed(2)}`).join(", "),
        );
    const x = d3.scaleLinear([1, order.length], [margin, width - margin]);
    const every = Math.max(1, Math.ceil((order.length * 24) / (width - 2 * margin)));
    const ruler = svg.append("g").attr("class", "ruler");
    ruler.append("path").attr("d", `M${x(1)},16v8m0,-4H${Math.min(x(1 + ranks.limit), width)}m0,-4v8`);
    ruler
        .append("text")
        .attr("x", x(1))
        .attr("y", 11)
        .text(`critical difference ${ranks.limit.toFixed(2)}`);
    svg.append("g")
        .attr("transform", `translate(0,${axis})`)
        .call(
            d3
                .axisTop(x)
                .tickValues(d3.range(1, order.length + 1, every))
                .tickFormat(d3.format("d"))
                .tickSizeOuter(0),
        );
    ranks.groups.forEach((group, i) => {
        const [from, to] = d3.extent(group, (chain) => x(ranks.mean[chain]));
        svg.append("line")
            .attr("class", "group")
            .attr("x1", from - 3)
            .attr("x2", to + 3)
            .attr("y1", axis + 8 + 7 * i)
            .attr("y2", axis + 8 + 7 * i);
    });
    order.forEach((chain, place) => {
        const isLeft = place < rows;
        const y = first + step * (0.5 + (isLeft ? place : order.length - 1 - place));
        const edge = isLeft ? margin - 6 : width - margin + 6;
        const mark = svg.append("g").attr("class", "rank");
        mark.append("title").text(`${visible(data.chains[chain])}: ${ranks.mean[chain].toFixed(2)}`);
        mark.append("path").attr("d", `M${x(ranks.mean[chain])},${axis}V${y}H${edge}`);
        mark.append("text")
            .attr("x", edge + (isLeft ? -4 : 4))
            .attr("y", y)
            .attr("dy", "0.32em")
            .attr("text-anchor", isLeft ? "end" : "start")
            .text(`${cut(data.chains[chain], longest)} ${ranks.mean[chain].toFixed(2)}`);
    });
    return svg.node();
}

// ---- Pairs

function showPairs(report) {
    const { data } = report;
    if (data.chains.length < 2 || data.units < 2) return null;
    const value = (i, j) => {
        if (i === j) return null;
        const [wins, ties] = report.chosen("wins");
        return { wins: wins[i][j], ties: ties[i][j], losses: wins[j][i] };
    };
    const text = (found) => (found === null ? "" : `${found.wins}–${found.ties}–${found.losses}`);
    const share = (i, j) => {
        const found = value(i, j);
        const all = found === null ? 0 : found.wins + found.ties + found.losses;
        return all ? (found.wins - found.losses) / all : null;
    };
    const map = heatMap({ caption: "", rows: data.chains, columns: data.chains, value, text, share });
    const update = () => {
        const unpaired = data.unpaired ? " Chains that were measured on different folds are not compared." : "";
        map.update(
            `On how many ${data.over} the chain of a row is better than, as good as, and worse than that of a ` +
                `column, by ${report.about()}. The colour shows wins minus losses.${unpaired}`,
        );
    };
    return { element: section("pairs", "Wins, ties and losses", map.element), update };
}

// ---- Tests

function showTests(report) {
    const { data } = report;
    if (data.chains.length < 2 || data.units < 2) return null;
    const caption = element("p", { class: "quiet" });
    const rows = report.chosen("tests").length;
    const chain = (key, at) => ({
        key,
        label: key,
        width: widthOf(data.chains),
        text: true,
        value: (row) => data.chains[report.chosen("tests")[row][at]],
        cell: (row) => nameElement(data.chains[report.chosen("tests")[row][at]]),
    });
    const columns = () => {
        const tests = report.chosen("tests");
        const most = d3.max(tests, (test) => Math.abs(test[2] ?? 0)) || 1;
        return [
            chain("first", 0),
            chain("second", 1),
            {
                key: "difference",
                label: "second minus first",
                width: 12,
                value: (row) => tests[row][2],
                cell: (row) => signedBar(tests[row][2], most),
            },
            {
                key: "p",
                label: "p",
                title: "p, adjusted by Holm's method",
                width: 6,
                ascending: true,
                value: (row) => tests[row][3],
                cell: (row) => pText(tests[row][3]),
            },
        ];
    };
    const table = liveTable(report, { caption: "Differences", rows, columns, sort: { key: "p", descending: false } });
    const update = () => {
        const isTask = data.over === "tasks";
        const test = isTask ? "Wilcoxon's signed-rank test" : "the corrected resampled t-test";
        const pairs =
            rows < (data.chains.length * (data.chains.length - 1)) / 2 ? "; each chain against the first" : "";
        const holm = rows > 1 ? ` Holm's method adjusts p for ${rows} comparisons.` : "";
        const few = isTask && data.units < 6 ? " With fewer than 6 tasks p is never below 0.05." : "";
        caption.textContent =
            `Differences of ${report.about()}, with p of ${test} over ${data.units} ${data.over}${pairs}.` +
            `${holm}${few}`;
        table.update();
    };
    return { element: section("tests", "Differences", caption, table.element), update };
}

/** A number, and a bar that goes to the right for positive numbers and to the left for negative ones. */
function signedBar(number, most) {
    if (number === null) return NONE;
    const size = `--size: ${Math.abs(number / most) * 50}%`;
    const bar = element("span", {
        class: number < 0 ? "bar signed negative" : "bar signed",
        style: size,
        "aria-hidden": "true",
    });
    return element("span", { class: "barred" }, bar, `${number < 0 ? "−" : "+"}${Math.abs(number).toFixed(3)}`);
}

// ---- Tasks

function showTasks(report) {
    const { data, state } = report;
    const caption = element("p", { class: "quiet" });
    const values = (row) => data.values[state.measure][row].map((line) => line[state.share]);
    const isTask = data.over === "tasks";
    const names = [
        {
            key: "data",
            label: isTask ? "data" : "fold",
            width: widthOf(data.rows.map((row) => row[0])),
            text: true,
            value: isTask ? (row) => data.rows[row][0] : (row) => row,
            cell: (row) => nameElement(data.rows[row][0]),
        },
        ...(isTask
            ? [
                  {
                      key: "task",
                      label: "task",
                      width: widthOf(data.rows.map((row) => row[1])),
                      text: true,
                      value: (row) => data.rows[row][1],
                      cell: (row) => nameElement(data.rows[row][1]),
                  },
              ]
            : []),
    ];
    const columns = () => {
        const all = data.rows.map((_, row) => values(row));
        const best = all.map((line) => report.best(line));
        const gaps = all.map((line, row) =>
            line.map((value) => (value === null ? 0 : Math.abs(value - line[d3.min(best[row])]))),
        );
        const most = d3.max(gaps, (line) => d3.max(line)) || 1;
        const cell = (row, chain) => {
            const value = all[row][chain];
            if (value === null) return NONE;
            const size = `--size: ${(gaps[row][chain] / most) * 100}%`;
            const isBest = best[row].has(chain);
            const number = element(
                isBest ? "strong" : "span",
                isBest ? { class: "best", title: "best" } : {},
                value.toFixed(3),
            );
            return element(
                "span",
                { class: "barred" },
                element("span", { class: "bar gap", style: size, "aria-hidden": "true" }),
                number,
            );
        };
        const chains = data.chains.map((name, chain) => ({
            key: `chain ${chain}`,
            label: cut(name, 20),
            title: visible(name),
            width: 5.5,
            ascending: report.measure.loss,
            value: (row) => all[row][chain],
            cell: (row) => cell(row, chain),
        }));
        return [...names, ...chains];
    };
    const table = liveTable(report, {
        caption: "Each task",
        rows: data.rows.length,
        columns,
        sort: { key: "data", descending: false },
        lines: data.rows.length > LINES ? LINES : null,
    });
    const update = () => {
        const what = isTask ? "each task, as a mean over its folds" : "each fold";
        caption.textContent =
            `${sentence(report.about())} of ${what}. The best is bold; a bar shows how far a chain is from the best ` +
            `of its row.`;
        table.update();
    };
    return { element: section("tasks", isTask ? "Tasks" : "Folds", caption, table.element), update };
}

// ---- Confusion

function showConfusion(report) {
    const { data, state } = report;
    if (!data.confusions.length) return null;
    const tasks = [...new Set(data.confusions.map(({ task }) => task))];
    const chosen = { task: 0, chain: data.confusions[0].chain };
    const caption = element("p", { class: "quiet" });
    const holder = element("div");
    const update = () => {
        const { chain } = chosen;
        const found = data.confusions.find(
            (each) => each.task === tasks[chosen.task] && each.chain === chain && each.share === state.share,
        );
        caption.textContent = found
            ? `Rows of each class (rows of the table) by the class that was predicted (columns), summed over folds, ` +
              `trained on ${shareText(data.shares[state.share])} of all rows. The colour shows the share of the class.`
            : "The page does not have this matrix.";
        holder.replaceChildren(
            ...(found ? [found.names.length > MOST_CLASSES ? errorList(found) : confusionMap(found)] : []),
        );
    };
    const pick = (key) => (value) => {
        chosen[key] = Number(value);
        update();
    };
    const choices = [
        tasks.length > 1
            ? choice(
                  "Task",
                  tasks.map((label, value) => ({ value, label })),
                  0,
                  pick("task"),
              )
            : null,
        data.chains.length > 1
            ? choice(
                  "Chain",
                  data.chains.map((label, value) => ({ value, label })),
                  chosen.chain,
                  pick("chain"),
              )
            : null,
    ];
    const chooser = element("div", { class: "controls" }, ...choices);
    return { element: section("confusion", "Confusion", chooser, caption, holder), update };
}

function confusionMap({ task, names, cells }) {
    const weights = names.map(() => names.map(() => 0));
    cells.forEach(([i, j, weight]) => (weights[i][j] = weight));
    const sums = weights.map((line) => d3.sum(line));
    const value = (i, j) => weights[i][j];
    const share = (i, j) => (sums[i] ? weights[i][j] / sums[i] : 0);
    return heatMap({
        caption: visible(task),
        rows: names,
        columns: names,
        value,
        share,
        text: (weight) => (weight ? count(weight) : "·"),
    }).element;
}

/** The most frequent errors, where a map of all classes would be too large. */
function errorList({ names, cells }) {
    const sums = d3.rollup(
        cells,
        (own) => d3.sum(own, (cell) => cell[2]),
        (cell) => cell[0],
    );
    const errors = d3
        .sort(
            cells.filter(([i, j]) => i !== j),
            (cell) => -cell[2],
        )
        .slice(0, MOST_ERRORS);
    const name = (key, label, at) => ({
        key,
        label,
        width: 14,
        text: true,
        value: (row) => names[errors[row][at]],
        cell: (row) => nameElement(names[errors[row][at]]),
    });
    const columns = [
        name("true", "true", 0),
        name("predicted", "predicted", 1),
        { key: "rows", label: "rows", width: 6, value: (row) => errors[row][2], cell: (row) => count(errors[row][2]) },
        {
            key: "share",
            label: "of the class",
            width: 7,
            value: (row) => errors[row][2] / sums.get(errors[row][0]),
            cell: (row) => percent(errors[row][2] / sums.get(errors[row][0])),
        },
    ];
    return sortableTable({
        caption: "Most frequent errors",
        rows: errors.length,
        columns,
        sort: { key: "rows", descending: true },
        lines: 15,
    }).element;
}
