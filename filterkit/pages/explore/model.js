// What the sections ask about the features: rankings, tests, distributions.
"use strict";

/** The features of the data, with rankings that are computed when they are first asked for. */
function modelOf(data) {
    const { features, tasks } = data;
    const rankings = new Map();
    const strips = Uint8Array.from(atob(features.strips.counts), (character) => character.charCodeAt(0));
    return {
        data,
        tasks,
        metrics: data.metrics.map((metric) => metric.name),
        names: features.name,
        size: features.name.length,
        searched: features.name.map((name) => visible(name).toLowerCase()),

        score: (metric, feature) => features.scores[metric][feature],

        /** The ranking by a metric: `order` has the features, best first, `place` the rank of each from 0, or −1. */
        ranking(metric) {
            if (!rankings.has(metric)) rankings.set(metric, rankingOf(features.scores[metric]));
            return rankings.get(metric);
        },

        /** The number of the point that is best by a metric, −1 without one. */
        point(metric, feature) {
            const own = features.point[metric]?.[feature] ?? -1;
            return own < 0 || !tasks.length ? -1 : features.points.start[feature] + own;
        },

        /** What passes the test of a point: {task, tp, fp, tpr, fpr}; null for −1. */
        test(point) {
            if (point < 0) return null;
            const task = features.points.task[point];
            const [tp, fp] = [features.points.tp[point], features.points.fp[point]];
            const { pos, neg } = tasks[task];
            return { task, tp, fp, tpr: tp / pos, fpr: fp / neg };
        },

        /** The test of a point as a text. */
        testText(point) {
            const label = features.points.label[point];
            return label === undefined ? `≥ ${decimal(features.points.threshold[point])}` : `= ${visible(label)}`;
        },

        /** The shares of the two histograms of a feature: of the rows of its class, and of the rest. */
        strip(feature) {
            const { bins } = features.strips;
            return d3
                .range(2)
                .map((side) => strips.subarray((2 * feature + side) * bins, (2 * feature + side + 1) * bins));
        },
    };
}

function rankingOf(scores) {
    const order = sortedRows(scores.length, (feature) => scores[feature], true).filter(
        (feature) => scores[feature] !== null,
    );
    const place = new Int32Array(scores.length).fill(-1);
    order.forEach((feature, rank) => (place[feature] = rank));
    return { order, place };
}

/** The name of a class against which the others stand. */
function taskLabel(model, task) {
    return visible(model.tasks[task].label);
}

/** The colour of a class: of two, the positive one has the colour that stands for it everywhere. */
function classColour({ tasks }, label) {
    if (!tasks.length) return colourOf(0);
    const number = tasks.findIndex((task) => task.label === label);
    if (tasks.length === 1) return number === 0 ? "var(--positive)" : "var(--rest)";
    return number < 0 ? "var(--dot)" : colourOf(number);
}
