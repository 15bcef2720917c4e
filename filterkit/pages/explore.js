// The page of `filterkit explore`.
//
// What readData() gives. Weights are sums of instance weights; where every row has the weight 1, they are rows.
//
// made: {program, command, input}              texts, such as "filterkit 0.1.0"; input: the words of a shell that read
//                                              the same data, such as "--class y in.arff"; without it, the file
// file, relation, format                       texts
// chain: text                                  the stages, "" without
// overview: {
//   rows, weight, sparse,                      number, number, boolean
//   kinds: {numeric: 5, nominal: 1, …},        attributes of each kind, the class included
//   missing, zeros,                            cells, and the share of zeros among numbers or null
//   class: {name, kind, labels: [text], rows: [number], missing: number,
//     mean, deviation, quantiles: [5], edges: [B + 1], counts: [B]} | null
//                                              the second line only of a numeric class with values; weights of rows
// }
// warnings: [{kind, text, attributes: [name]}] kind: empty, constant, equal, leak, id, unused, weights, skew, …; the
//                                              text is a whole sentence, `attributes` may be thinned
// notes: [text]                                what was thinned or left out, as whole sentences
// tasks: [{label, pos, neg}]                   each class against the rest; of two classes only the positive one;
//                                              empty without a nominal class; then points mean nothing
// metrics: [{name, summary, plane}]            the first is chosen at the start; plane: has isolines
// features: {
//   total,                                     how many the data has; the arrays below have F ≤ total
//   name: [F texts], kind: [F texts: numeric | nominal],
//   nonzero: [F], missing: [F],                weights of rows
//   scores: {METRIC: [F numbers]},             null where a feature does not vary
//   points: {start: [F + 1], task: [P], threshold: [P], tp: [P], fp: [P], label: {P: text}},
//                                              the points of feature i are start[i] … start[i + 1] − 1. The test of a
//                                              numeric feature is "value ≥ threshold"; that of a nominal one is
//                                              "value = label", and its threshold is null. `task` is a number of `tasks`
//   point: {METRIC: [F]},                      which of its own points is best by the metric, counted from start[i];
//                                              −1 if the feature does not vary;
//                                              of a metric that looks at whole columns that of the first metric
//   strips: {bins, counts: base64}             two small histograms a feature, bytes [F][2][bins]: the shares, 0 to
//                                              255, of the rows of the class of its first point, then of the rest
//                                              (without classes the second is zeros). Equal widths from its least to
//                                              its largest value; of a nominal feature its labels
//   low: [F], high: [F]                        least and largest value; null for nominal features
// }
// isolines: {METRIC: [one for each task: [K × K numbers, a row for each tpr of `rates`, in it each fpr]]}
// rates: [K]                                   from 0 to 1, ascending
//                                              lists may be shorter than `tasks`
// agreement: {metrics: [name], spearman: [[…]]}
// correlation: {features: [index], r: [[…]]}   of the best features; null where one does not vary
// details: [{                                  of the best features by the first metric, best first
//   feature: index,
//   before: HISTOGRAM,                         as it comes in
//   curves: [{task, value: [n], p: [n], rows: [n], what, stage}]  the shape curve: p(value), and the weight of the
//                                              rows with a value up to this one and above the one before; nominal:
//                                              one per label. what: "p(v)", or what p is else; stage: which makes it.
//                                              Of a numeric class p is its mean over these rows, what "mean", stage ""
//   after: [{name, histogram: HISTOGRAM}]      the columns of its name that come out of the chain; [] without a chain
// }]
//   HISTOGRAM: {classes: [text], missing: [C]} with either {edges: [B + 1], counts: [C][B], zero: [C] | null} where
//   zero counts the zeros, which are not in counts then; or {labels: [text], counts: [C][labels]}.
//   Without a nominal class `classes` is [""].
// stages: [{words, columns, rows, nonzero, missing, seconds}]  what comes out of each; first the input, whose
//                                              words are "". nonzero and missing are cells; seconds took fitting,
//                                              null for the input
"use strict";

startPage((data, main) => {
    const model = modelOf(data);
    const state = firstState(model);
    const views = [];
    const change = (next) => {
        const changed = new Set(Object.keys(next).filter((key) => state[key] !== next[key]));
        Object.assign(state, next);
        if (changed.size) views.forEach((view) => view.update(changed));
    };
    main.append(headView(model));
    if (model.metrics.length) add(controlsView(model, state, change));
    main.append(overviewView(model));
    if (model.metrics.length && model.tasks.length) add(planeView(model, state, change));
    add(tableView(model, state, change));
    add(cardsView(model, state));
    add(rankingsView(model, state));
    add(stagesView(model));
    views.forEach((view) => view.update(new Set(Object.keys(state))));
    const onSurface = () => change({ surface: {} });
    onThemeChange(onSurface);
    addEventListener("resize", onNextFrame(onSurface));
    main.querySelector("header").append(contents(main));

    function add(view) {
        if (view === null) return;
        views.push(view);
        main.append(view.element);
    }
});

/** Links to the sections. */
function contents(main) {
    const links = [...main.querySelectorAll("section[id]")].map(({ id, firstChild }) =>
        element("a", { href: `#${id}` }, firstChild.textContent),
    );
    return element("nav", { class: "contents screen-only", "aria-label": "Contents" }, ...links);
}

/** What the reader chooses; each section is told which of these change. */
function firstState(model) {
    const metric = model.metrics[0] ?? null;
    const task = metric === null ? null : firstTask(model, metric);
    return {
        metric,
        task, // null: all classes
        cut:
            metric === null
                ? 0
                : Math.min(model.ranking(metric).order.length, model.size > 1000 ? 500 : Math.ceil(model.size / 4)),
        columns: model.metrics.slice(0, FIRST_METRICS), // the metrics that have a column
        query: "",
        box: null, // the rectangle of the plane: {fpr: [least, largest], tpr: […]}
        zoom: isCornered(model, { metric, task }),
        chosen: null, // a feature
        jump: false, // whether to scroll to the card of the chosen feature
        surface: null, // another object whenever the page becomes dark, light, wide, narrow or paper
    };
}

/** The class that the best tests of most features are for. */
function firstTask(model, metric) {
    const { task } = model.data.features.points;
    const found = model.ranking(metric).order.map((feature) => task[model.point(metric, feature)]);
    return (
        d3.greatest(
            d3.rollup(
                found,
                (some) => some.length,
                (each) => each,
            ),
            ([, size]) => size,
        )?.[0] ?? null
    );
}

/** The controls that steer all sections: the metric, the class, and N. */
function controlsView(model, state, change) {
    const most = Math.max(1, model.ranking(state.metric).order.length);
    const stops = cutStops(most, 200);
    const slider = element("input", {
        type: "range",
        id: "cut",
        min: 0,
        max: stops.length - 1,
        step: 1,
        oninput: () => setCut(stops[slider.valueAsNumber]),
    });
    const number = element("input", {
        type: "number",
        min: 1,
        max: most,
        "aria-label": "N, the number of best features",
        onchange: () => setCut(number.valueAsNumber),
    });
    const setCut = onNextFrame((cut) => change({ cut: Math.max(1, Math.min(most, Math.round(cut) || 1)) }));
    const metrics = model.data.metrics.map(({ name, summary }) => ({ value: name, label: `${name}: ${summary}` }));
    const classes = [
        { value: "", label: "all classes" },
        ...model.tasks.map(({ label }, task) => ({ value: task, label })),
    ];
    const bar = element(
        "div",
        { class: "controls steering screen-only", role: "group", "aria-label": "What the page shows" },
        choice("Metric", metrics, state.metric, (metric) => change({ metric })),
        model.tasks.length > 1
            ? choice("Class", classes, state.task ?? "", (task) =>
                  change({ task: task === "" ? null : Number(task), box: null }),
              )
            : null,
        element("label", { for: "cut", class: "grow" }, "Best N ", slider),
        number,
    );
    function update(changed) {
        if (!changed.has("cut")) return;
        number.value = state.cut;
        slider.value = d3.bisectLeft(stops, state.cut);
        slider.setAttribute("aria-valuetext", counted(state.cut, "feature"));
    }
    return { element: bar, update };
}

/** Whole numbers from 1 to `most`, about evenly spaced on a logarithmic scale. */
function cutStops(most, number) {
    const all = d3.range(number).map((step) => Math.round(most ** (step / (number - 1))));
    return [...new Set([1, ...all, most])];
}
