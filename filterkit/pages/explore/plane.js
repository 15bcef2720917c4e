// The ROC plane: each feature at its best test, isolines of the chosen metric, the best N.
"use strict";

const CORNER = 0.5; // the largest rate of a corner that is drawn alone at the start

const PLANE_MARGIN = { top: 12, right: 16, bottom: 42, left: 50 };
const REACH = 16; // pixels: how near the pointer must be to a dot

function planeView(model, state, change) {
    const canvas = element("canvas", { "aria-hidden": "true" });
    const svg = d3.create("svg").attr("aria-hidden", "true");
    const board = element(
        "div",
        { class: "board", tabindex: 0, role: "application", "aria-label": "ROC plane" },
        canvas,
        svg.node(),
    );
    const caption = element("figcaption");
    const side = element("div", { class: "panel" });
    const box = boxControls(change);
    const zoom = element("input", {
        type: "checkbox",
        checked: state.zoom ? "" : null,
        onchange: () => change({ zoom: zoom.checked }),
    });
    const found = section(
        "plane",
        "ROC plane",
        element(
            "div",
            { class: "plane" },
            element("figure", {}, board, caption),
            element(
                "div",
                {},
                element(
                    "div",
                    { class: "screen-only" },
                    element("label", {}, zoom, " Zoom in on where the features are"),
                    box.element,
                ),
                side,
            ),
        ),
    );

    const layers = Object.fromEntries(
        ["grid", "isolines", "cut", "brush", "chosen", "focus"].map((name) => [
            name,
            svg.append("g").attr("class", name),
        ]),
    );
    const clip = svg.append("clipPath").attr("id", "plane-clip").append("rect");
    const brush = d3.brush().touchable(false).on("end", onBrush);
    let view = null; // the scales, the dots, and the grid of scores, as they are drawn
    let walked = -1; // the place in the ranking that the keyboard is on

    function update(changed) {
        if (view === null || ["metric", "task", "zoom", "surface"].some((key) => changed.has(key))) redraw();
        else if (changed.has("cut")) drawCut();
        if (changed.has("box")) showBox();
        if (changed.has("chosen") || changed.has("metric") || view.fresh) drawChosen();
        view.fresh = false;
    }

    function redraw() {
        const most = onPaper ? 460 : 640;
        const size = Math.max(280, Math.min(board.parentElement.clientWidth || most, most));
        const dots = dotsOf(model, state);
        const scales = scalesOf(dots, size, state.zoom);
        view = { size, ...scales, dots: mergedDots(dots, scales), grid: gridOf(model, state), fresh: true };
        svg.attr("width", size).attr("height", size).attr("viewBox", [0, 0, size, size]);
        clip.attr("x", view.x.range()[0])
            .attr("y", view.y.range()[1])
            .attr("width", view.x.range()[1] - view.x.range()[0])
            .attr("height", view.y.range()[0] - view.y.range()[1]);
        drawAxes(layers.grid, view);
        drawIsolines(layers.isolines, view);
        brush.extent([
            [PLANE_MARGIN.left, PLANE_MARGIN.top],
            [size - PLANE_MARGIN.right, size - PLANE_MARGIN.bottom],
        ]);
        layers.brush.call(brush);
        layers.focus.selectAll("*").remove();
        drawCut();
        showBox();
    }

    function drawCut() {
        const { order, place } = model.ranking(state.metric);
        const drawn = drawDots(canvas, view, place, state.cut);
        const level = order.length ? model.score(state.metric, order[Math.min(state.cut, order.length) - 1]) : null;
        layers.cut.selectAll("*").remove();
        const anchor =
            view.grid && level !== null
                ? drawLine(layers.cut, view, level, `best ${count(state.cut)}: ${decimal(level)}`)
                : null;
        hideNear(layers.isolines, anchor);
        Object.assign(board.dataset, drawn);
        caption.replaceChildren(...captionText(model, state, view, drawn, level));
        board.setAttribute("aria-label", boardLabel(model, state, drawn));
    }

    function drawChosen() {
        const best = model.ranking(state.metric).order.find((each) => inTask(model, state, each));
        const feature = state.chosen ?? best;
        const dot = view.dots.find(({ features }) => features.includes(state.chosen));
        drawRing(layers.chosen, dot, 4);
        side.replaceChildren(...(feature === undefined ? [] : featurePanel(model, state, feature)));
    }

    // The rectangle

    function onBrush({ selection, sourceEvent }) {
        if (!sourceEvent) return; // moved by showBox
        if (selection === null) {
            if (state.box) change({ box: null });
            return;
        }
        const [[left, top], [right, bottom]] = selection;
        change({
            box: { fpr: [view.x.invert(left), view.x.invert(right)], tpr: [view.y.invert(bottom), view.y.invert(top)] },
        });
    }

    function showBox() {
        box.show(state.box);
        const { x, y } = view;
        const inside = state.box && [
            [Math.max(x(state.box.fpr[0]), x.range()[0]), Math.max(y(state.box.tpr[1]), y.range()[1])],
            [Math.min(x(state.box.fpr[1]), x.range()[1]), Math.min(y(state.box.tpr[0]), y.range()[0])],
        ];
        layers.brush.call(
            brush.move,
            inside && inside[0][0] < inside[1][0] && inside[0][1] < inside[1][1] ? inside : null,
        );
    }

    // Pointer and keyboard

    function point(dot) {
        drawRing(layers.focus, dot, 3);
    }

    function onMove(event) {
        if (event.buttons) return tooltip.hide();
        const [x, y] = d3.pointer(event, svg.node());
        const dot = nearestDot(view.dots, x, y);
        point(dot);
        if (dot) tooltip.show(event.clientX, event.clientY, ...dotText(model, state, dot.features));
        else tooltip.hide();
    }

    function onClick(event) {
        const [x, y] = d3.pointer(event, svg.node());
        const dot = nearestDot(view.dots, x, y);
        if (dot) change({ chosen: dot.features[0] });
    }

    function onKey(event) {
        const { order } = model.ranking(state.metric);
        const inPlane = order.filter((feature) => inTask(model, state, feature));
        const steps = {
            ArrowRight: 1,
            ArrowDown: 1,
            ArrowLeft: -1,
            ArrowUp: -1,
            PageDown: 10,
            PageUp: -10,
            Home: -1e9,
            End: 1e9,
        };
        if (event.key === "Escape" && state.box) change({ box: null });
        else if (event.key === "Enter" && walked >= 0) change({ chosen: inPlane[walked] });
        else if (event.key in steps && inPlane.length) {
            walked = Math.max(0, Math.min(inPlane.length - 1, walked + steps[event.key]));
            walkTo(inPlane[walked]);
        } else return;
        event.preventDefault();
    }

    function walkTo(feature) {
        const dot = view.dots.find(({ features }) => features.includes(feature));
        point(dot);
        if (!dot) return;
        const { left, top } = svg.node().getBoundingClientRect();
        const text = dotText(model, state, [feature]);
        tooltip.show(left + dot.x, top + dot.y, ...text);
        announce(text.map((line) => line.textContent).join(", "));
    }

    board.addEventListener("pointermove", onMove);
    board.addEventListener("pointerleave", () => (tooltip.hide(), point(null)));
    board.addEventListener("click", onClick);
    board.addEventListener("keydown", onKey);
    board.addEventListener("blur", () => (tooltip.hide(), point(null), (walked = -1)));
    return { element: found, update };
}

// ---- What is drawn

/** Whether a feature has its best test in the class that the plane shows. */
function inTask(model, { metric, task }, feature) {
    const point = model.point(metric, feature);
    return point >= 0 && (task === null || model.data.features.points.task[point] === task);
}

/** The features of the plane: [{feature, fpr, tpr}]. */
function dotsOf(model, state) {
    const { tp, fp, task } = model.data.features.points;
    const dots = [];
    for (let feature = 0; feature < model.size; feature++) {
        if (!inTask(model, state, feature)) continue;
        const point = model.point(state.metric, feature);
        const { pos, neg } = model.tasks[task[point]];
        dots.push({ feature, fpr: fp[point] / neg, tpr: tp[point] / pos });
    }
    return dots;
}

function scalesOf(dots, size, zoom) {
    const [across, up] = zoom ? extentOf(dots) : [1, 1];
    return {
        x: d3.scaleLinear([0, across], [PLANE_MARGIN.left, size - PLANE_MARGIN.right]),
        y: d3.scaleLinear([0, up], [size - PLANE_MARGIN.bottom, PLANE_MARGIN.top]),
    };
}

/** The largest rates of all features, and a little more: [fpr, tpr]. */
function extentOf(dots) {
    return ["fpr", "tpr"].map((key) => Math.min(1, Math.max(0.01, 1.06 * (d3.max(dots, (dot) => dot[key]) ?? 1))));
}

/** Whether all features are in so small a corner of the plane that it is better drawn alone. */
function isCornered(model, state) {
    return state.metric !== null && model.tasks.length > 0 && d3.max(extentOf(dotsOf(model, state))) < CORNER;
}

/** Features on the same pixel become one dot: [{x, y, r, features, above}], those of several features larger. */
function mergedDots(dots, { x, y }) {
    const merged = new Map();
    for (const { feature, fpr, tpr } of dots) {
        const [left, top] = [Math.round(x(fpr)), Math.round(y(tpr))];
        const key = left * 10_000 + top;
        const there = merged.get(key);
        if (there) there.features.push(feature);
        else merged.set(key, { x: left, y: top, features: [feature], above: tpr >= fpr });
    }
    const made = [...merged.values()];
    for (const dot of made) dot.r = Math.min(7, 2.5 + 0.7 * Math.log2(dot.features.length));
    return made;
}

/** Draws the dots, the best ones in colour and on top; says how many dots and features those are. */
function drawDots(canvas, { size, dots }, place, cut) {
    const scale = Math.max(2, devicePixelRatio);
    canvas.width = canvas.height = size * scale;
    canvas.style.width = canvas.style.height = `${size}px`;
    const context = canvas.getContext("2d");
    context.scale(scale, scale);
    const best = dots.filter(({ features }) => features.some((feature) => place[feature] < cut));
    const chosen = new Set(best);
    const paintDots = (some, colour, alpha) => {
        context.globalAlpha = alpha;
        context.fillStyle = paint(colour);
        for (const { x, y, r } of some) {
            context.beginPath();
            context.arc(x, y, r, 0, 2 * Math.PI);
            context.fill();
        }
    };
    paintDots(
        dots.filter((dot) => !chosen.has(dot)),
        "dot",
        0.85,
    );
    paintDots(
        best.filter((dot) => dot.above),
        "positive",
        0.9,
    );
    paintDots(
        best.filter((dot) => !dot.above),
        "rest",
        0.9,
    );
    const features = d3.sum(dots, (dot) => dot.features.length);
    const within = d3.sum(best, (dot) => dot.features.filter((feature) => place[feature] < cut).length);
    return { dots: dots.length, features, best: within };
}

/** Draws a ring around a dot, so many pixels from its edge; or none. */
function drawRing(layer, dot, gap) {
    layer
        .selectAll("circle")
        .data(dot ? [dot] : [])
        .join("circle")
        .attr("cx", ({ x }) => x)
        .attr("cy", ({ y }) => y)
        .attr("r", ({ r }) => r + gap);
}

function nearestDot(dots, x, y) {
    const nearest = d3.least(dots, (dot) => Math.hypot(dot.x - x, dot.y - y) - dot.r);
    return nearest && Math.hypot(nearest.x - x, nearest.y - y) - nearest.r <= REACH ? nearest : null;
}

function drawAxes(layer, { size, x, y }) {
    layer.selectAll("*").remove();
    const [left, right] = x.range();
    const [bottom, top] = y.range();
    for (const value of x.ticks(5))
        layer
            .append("line")
            .attr("class", "rule")
            .attr("x1", x(value))
            .attr("x2", x(value))
            .attr("y1", bottom)
            .attr("y2", top);
    for (const value of y.ticks(5))
        layer
            .append("line")
            .attr("class", "rule")
            .attr("x1", left)
            .attr("x2", right)
            .attr("y1", y(value))
            .attr("y2", y(value));
    const end = Math.min(x.domain()[1], y.domain()[1]);
    layer
        .append("line")
        .attr("class", "diagonal")
        .attr("x1", x(0))
        .attr("y1", y(0))
        .attr("x2", x(end))
        .attr("y2", y(end));
    layer
        .append("g")
        .attr("transform", `translate(0,${bottom})`)
        .call(d3.axisBottom(x).ticks(5).tickSize(0).tickPadding(8));
    layer
        .append("g")
        .attr("transform", `translate(${left},0)`)
        .call(d3.axisLeft(y).ticks(5).tickSize(0).tickPadding(8));
    layer
        .append("text")
        .attr("x", right)
        .attr("y", size - 6)
        .attr("text-anchor", "end")
        .text("fpr: share of the other rows that pass →");
    layer
        .append("text")
        .attr("transform", "rotate(-90)")
        .attr("x", -top)
        .attr("y", 12)
        .attr("text-anchor", "end")
        .text("tpr: share of the class's rows that pass →");
}

// ---- Texts

function captionText(model, state, view, { dots, features, best }, level) {
    const name = state.task === null ? "its class" : taskLabel(model, state.task);
    const task = state.task === null ? "" : ` whose best test by ${state.metric} is for ${name}`;
    const merged = dots < features ? `, in ${counted(dots, "dot")}; features on the same pixel share a larger dot` : "";
    const lines = view.grid ? isolinesText(model, state, level) : isolinesMissing(model, state);
    return [
        `${counted(features, "feature")}${task}${merged}. `,
        `Coloured: ${count(best)} of the best ${count(state.cut)}. ${lines} `,
        element(
            "span",
            { class: "screen-only" },
            "Drag to select a rectangle; click a dot to choose its feature. ",
            "With the keyboard, arrow keys walk through the ranking, and Enter chooses.",
        ),
        legend([
            { label: `among the best, more frequent in ${name}`, colour: "var(--positive)", dot: true },
            { label: "among the best, more frequent in the rest", colour: "var(--rest)", dot: true },
            { label: "others", colour: "var(--dot)", dot: true },
        ]),
    ];
}

function isolinesText(model, { metric, cut }, level) {
    const last = Math.min(cut, model.ranking(metric).order.length);
    const bold = `the bold one is at ${decimal(level)}, the score at rank ${count(last)}`;
    return `Thin lines join equal scores by ${metric}; ${bold}.`;
}

function isolinesMissing(model, { metric, task }) {
    if (task === null) return "Choose one class to see isolines.";
    if (model.data.metrics.find(({ name }) => name === metric).plane) return "The page has no isolines for this class.";
    const instead = `dots are at the best test by ${model.metrics[0]}`;
    return `${metric} does not score points of the plane: there are no isolines, and ${instead}.`;
}

function boardLabel(model, { metric, cut }, { features, best }) {
    const which = `${counted(features, "feature")}, ${count(best)} of them among the best ${count(cut)} by ${metric}`;
    return `ROC plane with ${which}. Arrow keys walk through the ranking, Enter chooses a feature.`;
}

/** What the tooltip says of the features of a dot. */
function dotText(model, state, features) {
    const SHOWN = 5;
    const { place } = model.ranking(state.metric);
    const order = d3.sort(features, (feature) => place[feature]);
    const lines = order.slice(0, SHOWN).map((feature) => {
        const text = model.testText(model.point(state.metric, feature));
        const score = `${state.metric} ${decimal(model.score(state.metric, feature))}`;
        const name = element("b", {}, element("bdi", {}, cut(model.names[feature], 40)));
        return element("div", {}, name, ` ${text} · ${score} · rank ${count(place[feature] + 1)}`);
    });
    const { task, tp, fp, tpr, fpr } = model.test(model.point(state.metric, order[0]));
    const { pos, neg } = model.tasks[task];
    const passed = (rows, all, share) => `${count(rows)} of ${count(all)} (${percent(share)})`;
    const counts = `tp ${passed(tp, pos, tpr)} · fp ${passed(fp, neg, fpr)}`;
    const more = order.length - SHOWN;
    return [
        ...lines,
        element("div", { class: "quiet" }, counts),
        ...(more > 0 ? [element("div", {}, `and ${counted(more, "more feature")}`)] : []),
    ];
}
